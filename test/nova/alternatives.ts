/**
 * The two ways of `docs/operators/alternatives.md`, by its own commands: Nova boots what `explain` says, one flavor
 * after the other.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { tempFolder } from '../support/program.ts'
import { shell } from '../support/shell.ts'
import { GPU_MACHINE } from '../support/gpuMachine.ts'
import { heldBy, NOTHING, rightlyBound, tidied } from './boots.ts'
import { blocksIn, filledIn } from './commands.ts'
import { openOperator } from './operator.ts'
import { CARD_COMPUTE } from './rig.ts'
import type { NovaService } from './service.ts'

const DOCUMENT = 'docs/operators/alternatives.md'
const RUN_MS = 300_000
/** `explain`: no host fits. */
const NONE_FITS = 7

export const alternatives = (given: () => NovaService): void => {
  let service: NovaService
  let env: NodeJS.ProcessEnv
  const folder = tempFolder('alternatives')
  beforeAll(async () => {
    service = given()
    const { env: own } = await openOperator(service, folder.path, {
      ACCELERANDO_KAFKA_PREFIX: service.testCluster.prefix,
    })
    env = own
  })
  afterEach(() => tidied(service))
  afterAll(() => folder.remove())

  const fits = async (...profiles: readonly string[]): Promise<boolean> => {
    const script = `accelerando explain ${profiles.join(' ')} >/dev/null && echo 0 || echo $?`
    const code = Number(await shell(script, env))
    expect([0, NONE_FITS]).toContain(code)
    return code === 0
  }
  const flavorNamed = async (name: string): Promise<string> =>
    (await shell(`openstack flavor show ${name} -f value -c id`, env)).trim()
  const flavorOf = async (profile: string): Promise<string> => {
    const made = `openstack flavor create --ram 64 --vcpus 1 --disk 1 --property accel:device_profile=${profile} ${profile}`
    await shell(made, env)
    return flavorNamed(profile)
  }
  const forgotten = (...names: readonly string[]) =>
    shell(names.map((name) => `openstack flavor delete ${name}`).join('; '), env)

  test('what the alternatives have in common stands in one group', { timeout: RUN_MS }, async () => {
    const { users } = service
    const [common, without] = blocksIn(DOCUMENT, 'What the alternatives have in common, in one group')
    await shell(`${common!}\n${without!}`, env)
    const profiles = ['any-fpga', 'any-intel-fpga', 'not-xilinx']
    expect(await fits('any-fpga')).toBe(true)
    for (const profile of profiles) {
      const server = await users.boot(await flavorOf(profile))
      if (await fits(profile)) {
        expect(server).toMatchObject({ status: 'ACTIVE', fault: null })
        await rightlyBound(service, server.id, 1)
      } else expect(server).toMatchObject({ status: 'ERROR', fault: expect.stringContaining('No valid host') })
      await users.remove(server.id)
      expect(await heldBy(service, server.id)).toEqual(NOTHING)
    }
    await forgotten(...profiles)
    await shell(`accelerando profile delete ${profiles.join(' ')} --yes`, env)
  })

  test(
    'a profile and a flavor for each: the one that fits starts when the first does not',
    { timeout: RUN_MS },
    async () => {
      const { users } = service
      const [make, ask] = blocksIn(DOCUMENT, 'A profile and a flavor for each alternative')
      const [vgpu] = Object.keys(GPU_MACHINE.group)
      const here = {
        'resources:PGPU=2,trait:CUSTOM_GPU_NVIDIA_T4=required': `${vgpu}=2`,
        // this cloud has one
        'resources:PGPU=1,trait:CUSTOM_GPU_NVIDIA_A100=required':
          'resources:PGPU=2,trait:CUSTOM_GPU_NVIDIA_A100=required',
        '--ram 4096 --vcpus 2 --disk 10': '--ram 64 --vcpus 1 --disk 1',
      }
      await shell(filledIn(make!, here), env)
      expect(await shell(ask!, env)).toContain('two-t4')
      expect([await fits('one-a100'), await fits('two-t4'), await fits('one-a100', 'two-t4')]).toEqual([
        false,
        true,
        true,
      ])
      const first = await users.boot(await flavorNamed('gpu-first'))
      expect(first).toMatchObject({ status: 'ERROR', host: null, fault: expect.stringContaining('No valid host') })
      const second = await users.boot(await flavorNamed('gpu-second'))
      expect(second).toMatchObject({ status: 'ACTIVE', fault: null, host: CARD_COMPUTE })
      await rightlyBound(service, second.id, 2, 'MDEV')
      await users.remove(first.id, second.id)
      for (const { id } of [first, second]) expect(await heldBy(service, id)).toEqual(NOTHING)
      await forgotten('gpu-first', 'gpu-second')
      await shell('accelerando profile delete one-a100 two-t4 --yes', env)
    },
  )
}
