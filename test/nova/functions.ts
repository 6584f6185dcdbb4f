/**
 * A server whose flavor asks for what an FPGA does: the image is found in Glance, the card programmed for the bind, and
 * its function shown in Placement.
 */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { FPGA_MACHINE, intelImage } from '../support/fpgaMachine.ts'
import { uploadImage } from '../support/imageUpload.ts'
import { signIn } from '../support/signIn.ts'
import { heldBy, NOTHING, rightlyBound, tidied } from './boots.ts'
import { OPAE_CLASS } from './cards.ts'
import { CARD_COMPUTE } from './rig.ts'
import type { NovaService } from './service.ts'

type Shown = { readonly rp_uuid: string; readonly bitstream_id: string | null }

export const functions = (given: () => NovaService): void => {
  let service: NovaService
  beforeAll(() => {
    service = given()
  })
  afterEach(() => tidied(service))

  const uploaded = async (name: string, functionId: string, content?: Uint8Array): Promise<string> => {
    const { authUrl, image } = service.cloud
    const { token } = await signIn(authUrl, 'cyborg', { project: 'service' })
    const description = { name, function_name: name, function_uuid: functionId }
    const bytes = content ?? Buffer.from(JSON.stringify({ function_uuid: functionId }))
    return uploadImage(image.replace(/\/v2$/, ''), token, description, bytes)
  }
  const traitsOf = async (provider: string): Promise<unknown> => {
    const { users, cloud } = service
    const answer = await users.service.get(200, 'GET', `${cloud.placement}/resource_providers/${provider}/traits`)
    return answer['traits']
  }

  test.each([1, 2])('a server with %i units of a function by name is ACTIVE on a programmed card', async (units) => {
    const { users } = service
    const [name, functionId] = [`crypto-${randomUUID()}`, randomUUID()]
    const image = await uploaded(name, functionId)
    const group = { 'resources:FPGA': String(units), 'accel:function_name': name }
    const server = await users.boot(await users.flavor(group))
    expect(server).toMatchObject({ status: 'ACTIVE', fault: null })
    const arqs = await rightlyBound(service, server.id, units)
    const provider = arqs[0]!.device_rp_uuid!
    const shown = (await users.listed<Shown>('deployables')).find(({ rp_uuid }) => rp_uuid === provider)
    expect(shown?.bitstream_id).toBe(image)
    const trait = new RegExp(
      `^CUSTOM_FPGA_FUNCTION_ID_(XILINX|INTEL)_${functionId.toUpperCase().replaceAll('-', '_')}$`,
    )
    await expect
      .poll(() => traitsOf(provider), { timeout: 30_000 })
      .toEqual(expect.arrayContaining([expect.stringMatching(trait)]))
    await users.remove(server.id)
    expect(await heldBy(service, server.id)).toEqual(NOTHING)
  })

  test('a server with a function of an Intel card is ACTIVE on the card that its own tool has programmed', async () => {
    const { users, cards } = service
    const { after } = FPGA_MACHINE.intel
    const functionId = after.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    const name = `compress-${randomUUID()}`
    const image = await uploaded(name, functionId, intelImage())
    cards.fpgas.calls()
    const group = { [`resources:${OPAE_CLASS}`]: '1', 'accel:function_name': name }
    const server = await users.boot(await users.flavor(group))
    expect(server).toMatchObject({ status: 'ACTIVE', fault: null, host: CARD_COMPUTE })
    const [arq] = await rightlyBound(service, server.id, 1)
    expect(cards.fpgas.calls().map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'begin fpgaconf',
      'end fpgaconf',
    ])
    const provider = arq!.device_rp_uuid!
    const shown = (await users.listed<Shown>('deployables')).find(({ rp_uuid }) => rp_uuid === provider)
    expect(shown?.bitstream_id).toBe(image)
    await expect
      .poll(() => traitsOf(provider), { timeout: 30_000 })
      .toEqual(expect.arrayContaining([`CUSTOM_FPGA_FUNCTION_ID_INTEL_${after.toUpperCase()}`]))
    await users.remove(server.id)
    expect(await heldBy(service, server.id)).toEqual(NOTHING)
  })

  test('a function that no image has sets the server to ERROR, and nothing is left behind', async () => {
    const { users } = service
    const server = await users.boot(
      await users.flavor({ 'resources:FPGA': '1', 'accel:function_name': 'nothing-has-it' }),
    )
    expect(server).toMatchObject({ status: 'ERROR' })
    expect((await heldBy(service, server.id)).arqs).toBe(0)
    await users.remove(server.id)
    expect(await heldBy(service, server.id)).toEqual(NOTHING)
  })
}
