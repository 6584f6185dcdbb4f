/** What the client of Placement sends, and what it makes of answers that a well Placement does not give. */
import { expect, test } from 'vitest'
import { createPlacement } from '../../../src/neighbours/openstack/placement.ts'
import { type Answer, Unanswered } from '../../../src/neighbours/openstack/send.ts'
import type { Call } from '../../../src/neighbours/openstack/session.ts'
import { placementLabOn, record, placementFailure, well } from '../../support/placementLab.ts'
import { placementModel } from './placement/model.ts'
import { modelSession } from './placement/session.ts'

const UUID = '5b0dd8ca-0827-3ef3-804e-232d0228a582'
const ROOT = '7d2cd0a4-0f3c-4d0e-8d7f-2f1f1d2b1a01'
const PROVIDER = {
  uuid: UUID.toUpperCase(),
  name: 'compute1_0000:af:00.0',
  generation: 3,
  parent_provider_uuid: ROOT,
  root_provider_uuid: ROOT,
}
const json = (status: number, body: unknown): Answer => ({ status, headers: {}, text: JSON.stringify(body) })
const offering = (lowest: string, highest: string): Answer =>
  json(200, { versions: [{ id: 'v1.0', min_version: lowest, max_version: highest }] })
const error = (status: number, detail: string, code = 'placement.undefined_code'): Answer =>
  json(status, { errors: [{ status, title: 'x', detail, code }] })

/** A session whose answers are given in this order; an error is thrown. */
const scripted = (...answers: readonly (Answer | Error)[]) => {
  const asked: Call[] = []
  const left = [...answers]
  return {
    asked,
    session: {
      call: async (call: Call): Promise<Answer> => {
        asked.push(call)
        const next = left.shift()
        if (next === undefined) throw new Error(`nobody expected ${call.method} ${call.path}`)
        if (next instanceof Error) throw next
        return next
      },
    },
  }
}
const WELL = offering('1.0', '1.39')
/** What the client says of this answer to a request. */
const saidOf = async (answer: Answer | Error) => createPlacement(scripted(WELL, answer).session).provider(UUID)

test('PLACEMENT-1 the versions are read once, and the best common one is sent', async () => {
  for (const [highest, sent] of [
    ['1.39', '1.39'],
    ['1.30', '1.30'],
    ['1.41', '1.39'],
  ] as const) {
    const { asked, session } = scripted(offering('1.0', highest), json(200, PROVIDER), json(200, PROVIDER))
    const placement = createPlacement(session)
    const both = await Promise.all([placement.provider(UUID), placement.provider(UUID)])
    const value = { uuid: UUID, name: PROVIDER.name, generation: 3, parent: ROOT, root: ROOT }
    expect(both).toEqual([
      { ok: true, value },
      { ok: true, value },
    ])
    const headers = asked.map((call) => call.headers?.['openstack-api-version'])
    expect(headers).toEqual([undefined, `placement ${sent}`, `placement ${sent}`])
  }
})
test('PLACEMENT-1 a Placement that is too old is refused with both versions, until it has been upgraded', async () => {
  const { session } = scripted(offering('1.0', '1.29'), offering('1.0', '1.39'), json(200, PROVIDER))
  const placement = createPlacement(session)
  expect(await placement.provider(UUID)).toEqual({
    ok: false,
    error: 'refused',
    reason: 'Placement offers the versions 1.0 to 1.29: one of 1.30 to 1.39 is needed',
  })
  expect(await placement.provider(UUID)).toMatchObject({ ok: true })
})
test('PLACEMENT-1 a version that is refused later is negotiated anew', async () => {
  const { asked, session } = scripted(WELL, error(406, 'no'), offering('1.0', '1.36'), json(200, PROVIDER))
  const placement = createPlacement(session)
  expect(await placement.provider(UUID)).toMatchObject({ ok: false, error: 'refused' })
  expect(await placement.provider(UUID)).toMatchObject({ ok: true })
  expect(asked.at(-1)?.headers?.['openstack-api-version']).toBe('placement 1.36')
})
test('PLACEMENT-1 versions that could not be read are read again with the next call', async () => {
  const { session } = scripted(new Unanswered('no answer'), WELL, json(200, PROVIDER))
  const placement = createPlacement(session)
  expect(await placement.provider(UUID)).toEqual({ ok: false, error: 'unanswered', reason: 'no answer' })
  expect(await placement.provider(UUID)).toMatchObject({ ok: true })
})
test.each<[string, Answer | Error, string]>([
  ['nobody answers', new Unanswered('no answer within 5 ms'), 'no answer within 5 ms'],
  ['500', error(500, 'broken'), 'Placement answers 500: broken'],
  ['a page of a proxy', { status: 404, headers: {}, text: '<h1>nothing\n here</h1>' }, 'answers 404: <h1>nothing here'],
  ['too many requests', error(429, 'slowly'), 'Placement answers 429: slowly'],
  ['a redirection', { status: 302, headers: {}, text: '' }, 'Placement answers 302'],
  ['no JSON', { status: 200, headers: {}, text: '<html>' }, 'is not what its API promises, at the body: '],
  ['a number too large', json(200, { ...PROVIDER, generation: 1e300 }), 'at generation'],
  ['a parent of another kind', json(200, { ...PROVIDER, parent_provider_uuid: 7 }), 'at parent_provider_uuid'],
])('PLACEMENT-2 %s: unanswered', async (_, answer, reason) => {
  expect(await saidOf(answer)).toMatchObject({
    ok: false,
    error: 'unanswered',
    reason: expect.stringContaining(reason),
  })
})
test.each<[string, Answer]>([
  ['denied', { status: 401, headers: {}, text: 'Authentication required' }],
  ['denied', error(403, 'placement:resource_providers:show')],
  ['gone', error(404, 'no such provider', 'placement.resource_provider.not_found')],
  ['refused', error(400, 'JSON does not validate')],
  ['refused', error(406, 'Version not supported')],
  ['unknownName', error(400, 'No such trait CUSTOM_X')],
  ['unknownName', error(400, 'Unknown resource class in inventory for resource provider x: No such resource class Y.')],
  ['stale', error(409, 'changed', 'placement.concurrent_update')],
  ['stale', error(409, 'Race condition detected when setting inventory.')],
  ['inUse', error(409, 'x', 'placement.inventory.inuse')],
  ['inUse', error(409, 'x', 'placement.resource_provider.inuse')],
  ['hasChildren', error(409, 'x', 'placement.resource_provider.cannot_delete_parent')],
  ['duplicate', error(409, 'x', 'placement.duplicate_name')],
])('an answer that means: %s', async (trouble, answer) => {
  expect(await saidOf(answer)).toMatchObject({ ok: false, error: trouble })
})
test('a reason has one line of bounded length', async () => {
  const said = await saidOf(error(400, `line\n\tline ${'x'.repeat(10_000)}`))
  expect(said).toMatchObject({ reason: expect.stringMatching(/^Placement answers 400: line line x{1,490}$/) })
})
test('names are quoted in addresses', async () => {
  const { asked, session } = scripted(WELL, json(200, { resource_providers: [] }))
  expect(await createPlacement(session).named('a b&uuid=/\ud800')).toEqual({ ok: true, value: null })
  expect(asked.at(-1)?.path).toBe('/resource_providers?name=a%20b%26uuid%3D%2F%EF%BF%BD')
})
test('PLACEMENT-1 with the lowest version that is taken everything works but a new parent', async () => {
  const lab = placementLabOn(modelSession(placementModel({ highest: 30 })))
  const [{ uuid, name, root }, other] = [await lab.ours(), await lab.node()]
  expect(await lab.setInventories(uuid, { VGPU: record(8, 8) })).toEqual(well(1))
  expect(await lab.setTraits(uuid, ['OWNER_CYBORG'])).toEqual(well(2))
  expect(await lab.placement.owned()).toEqual(well([expect.objectContaining({ uuid })]))
  expect(await lab.placement.update({ uuid, name: `${name}-`, parent: root })).toMatchObject({ ok: true })
  expect(await lab.placement.update({ uuid, name, parent: other })).toEqual(
    placementFailure('refused', 'not currently allowed'),
  )
  expect(await lab.placement.remove(uuid)).toEqual(well(null))
})
