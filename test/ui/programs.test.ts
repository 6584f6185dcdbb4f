/** An image is loaded into a card, and the former one again, from the console: over the real API. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ImageCatalogue } from '../../src/actors/neighbours.ts'
import { imageOf } from '../support/images.ts'
import { SAME, type UiWorld, apiOf, consoleOf, createConsole, openUiWorld } from './world.ts'

const [FITS, OTHER, LATER, UNLISTED] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()] as const
const images: ImageCatalogue = {
  find: async (uuid) => ({ found: true, image: imageOf(uuid) }),
  search: async () => ({
    found: true,
    images: [
      { ...imageOf(FITS), name: 'aes' },
      { ...imageOf(OTHER), properties: { vendor: 'Inspur' } },
      imageOf(LATER),
    ],
  }),
}
let world: UiWorld
let uuid: string
beforeAll(async () => {
  world = await openUiWorld(undefined, { images })
  uuid = world.fpga.uuid
})
afterAll(() => world.close())

const pageOf = async (place: string, token = ''): Promise<string> => {
  const ui = createConsole(world, { tokens: token !== '' })
  return (await ui.request(`/ui/${place}`, { headers: { cookie: `accelerando-token=${token}` } })).text()
}
const send = async (name: string, fields: Readonly<Record<string, string>>) => {
  const init = { method: 'POST', body: new URLSearchParams(fields), headers: SAME }
  const answer = await createConsole(world).request(`/ui/programs/${uuid}/do/${name}`, init)
  return { status: answer.status, to: answer.headers.get('location'), html: await answer.text() }
}
/** Its host answers the order as soon as it reaches it. */
const carriedOut = async (name: string, image: string, result = {}) => {
  const before = world.orders.length
  const sent = send(name, { image, confirm: uuid.slice(0, 8) })
  await expect.poll(async () => (await world.pump(), world.orders.length)).toBeGreaterThan(before)
  await world.answer(world.orders.at(-1)!, { status: 'done', bitstreamId: image, ...result } as never)
  return sent
}

test('the page offers to load an image, and no former image where none is recorded', async () => {
  const page = await pageOf('programs')
  expect(page).toContain(`href="programs/${uuid}/do/load"`)
  expect(page).not.toContain('do/revert')
  expect(await pageOf(`programs/${uuid}/do/revert`)).toContain('no image is recorded that it held before')
})
test('the form says whom it concerns, lists what fits the card, and the equal command', async () => {
  const form = await pageOf(`programs/${uuid}/do/load`)
  expect(form).toContain(`<option value="${FITS}">aes (${FITS})</option>`)
  expect(form).toContain(`<option value="${LATER}">`)
  expect(form).not.toContain(OTHER)
  expect(form).toMatch(/In use by<\/dt><dd>nobody/)
  expect(form).toContain(`accelerando bitstream preload ${uuid} --image UUID`)
})
test('a card that cannot be looked up is no card that holds nothing: the form says what the API answered', async () => {
  const nowhere = `programs/${randomUUID()}/do`
  for (const name of ['load', 'revert']) {
    const form = await pageOf(`${nowhere}/${name}`)
    expect(form).toMatch(/could not be found/i)
    expect(form).not.toMatch(/no image is recorded|nothing can be loaded/)
  }
})
test('it is not for those who may not, and says why', async () => {
  expect(await pageOf(`programs/${uuid}/do/load`, 'token-of-member')).toContain(
    'your roles do not allow cyborg:deployable:program',
  )
})
test('without the confirmation nothing is loaded, and the form still knows what there is', async () => {
  const { status, html } = await send('load', { image: FITS, confirm: 'no' })
  expect([status, world.orders]).toEqual([409, []])
  expect(html).toContain('To confirm, type')
  expect(html).toMatch(new RegExp(`<input name="image"[^>]* value="${FITS}"`))
})
test('no image, or one that is no UUID, is refused with the field', async () => {
  const { html } = await send('load', { image: 'mine', confirm: uuid.slice(0, 8) })
  expect(html).toContain('image_uuid: it must be a UUID')
})
test('an image that is not among those proposed is loaded by its UUID, in any spelling', async () => {
  const form = await pageOf(`programs/${uuid}/do/load`)
  expect(form).toMatch(/<input name="image"[^>]* list="choices-image"/)
  expect(form).toContain('<datalist id="choices-image">')
  expect(form).not.toContain('<select')
  const before = world.orders.length
  const sent = send('load', { image: `urn:uuid:${UNLISTED}`, confirm: uuid.slice(0, 8) })
  await expect.poll(async () => (await world.pump(), world.orders.length)).toBeGreaterThan(before)
  expect(JSON.stringify(world.orders.at(-1))).toContain(UNLISTED)
  await world.answer(world.orders.at(-1)!, { status: 'failed', reason: 'bus error', final: true } as never)
  expect((await sent).status).toBe(409)
})
test('what was loaded is shown with the answer of its host, and then the former image can be loaded again', async () => {
  const first = await carriedOut('load', FITS)
  expect([first.status, first.to]).toEqual([303, expect.stringMatching(/^\.\.\/\.\.\/\.\.\/programs\?done=load&/)])
  expect(await pageOf(first.to!.replace('../../../', ''))).toContain('Load an image: recorded under req-')
  await carriedOut('load', LATER)
  const form = await pageOf(`programs/${uuid}/do/revert`)
  expect(form).toContain(`name="image" value="${FITS}"`)
  expect((await carriedOut('revert', FITS)).status).toBe(303)
  expect((await world.must(200, `GET /v2/deployables/${uuid}`)).json.bitstream_id).toBe(FITS)
})
test('a digest that does not match is a stop sign with what to do', async () => {
  const reason = `image_corrupt: the bytes of image ${LATER} do not match its digest`
  await carriedOut('load', LATER, { status: 'failed', reason, final: true })
  const page = await pageOf('programs')
  expect(page).toContain('Stop: the digest does not match')
  expect(page).toContain(reason)
  expect(page).toContain('upload it anew')
})
test('while a request uses it, the form says so in the words of the API', async () => {
  await carriedOut('load', FITS)
  await world.newProfile('fpga-small')
  const { uuid: arq } = await world.begun('fpga-small')
  const form = await pageOf(`programs/${uuid}/do/load`)
  expect(form).toContain('a request uses it, so it cannot be programmed now')
  expect(form).toContain(arq)
  expect(form).not.toContain('<button type="submit" class="button grave')
})
test('where images cannot be listed, the UUID is typed', async () => {
  const api = apiOf(world)
  const ui = consoleOf(async (request) => {
    const answer = await api(request)
    if (!request.url.includes('/programs/')) return answer
    const none = { refusal: null, images: [], images_problem: 'the image store cannot be read at present' }
    return Response.json({ ...((await answer.json()) as object), ...none })
  })
  const form = await (await ui.request(`/ui/programs/${uuid}/do/load`)).text()
  expect(form).toContain('the image store cannot be read at present')
  expect(form).toMatch(/<input name="image"/)
})
