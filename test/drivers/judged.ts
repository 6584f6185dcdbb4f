/** Whether what drivers offer of a machine can be passed on to guests, as `accelerando doctor --hardware` says it. */
import { examineHardware } from '../../src/cli/doctor/hardware.ts'
import { pciHere } from '../../src/cli/hardware/pciHere.ts'
import type { DriverOptions } from '../../src/drivers/index.ts'
import type { RecordedHost } from './recordedHostIo.ts'

const ABOUT = /^(IOMMU|vfio-pci|huge pages|[0-9a-f]{4,8}:[0-9a-f:.]+): (.*)$/s
export const judged = async (
  io: RecordedHost,
  enabledDrivers: readonly string[],
  drivers: DriverOptions = {},
): Promise<
  ReadonlyMap<string, { readonly verdict: string; readonly says: string; readonly advice: string | null }>
> => {
  const here = pciHere({ host: { name: io.hostname }, data: '/none', drivers, enabledDrivers } as never, io)
  const findings = await examineHardware(here, async () => '/usr/bin/flock')
  return new Map(
    findings.flatMap(({ verdict, says, advice = null }) => {
      const [, about, rest] = ABOUT.exec(says) ?? []
      return about === undefined ? [] : [[about, { verdict, says: rest!, advice }] as const]
    }),
  )
}
