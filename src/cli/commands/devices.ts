/**
 * `accelerando device`: scans and records the hardware of this machine, and shows the devices that a running service
 * knows.
 */
import { type Flags, type Register, configured, withPlainErrors, outLines } from '../command.ts'
import type { Config } from '../config/config.ts'
import { PROGRAM_FLAGS, addFlags } from '../config/flags.ts'
import type { HostIo } from '../../drivers/driver.ts'
import { FOUND } from '../operators/foundRows.ts'
import { type OutputFlags, addOutput, present } from '../output.ts'
import { inventory } from './inventory.ts'

/** Tells a person at a terminal which driver is running now. */
const begins = (driver: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`looking with ${driver}\n`)
}

const hostOf = async (config: Config, from: string | undefined): Promise<HostIo> => {
  const [{ ioHere }, { recordedHostIn }] = await Promise.all([
    import('../hardware/pciHere.ts'),
    import('../hardware/recordingFolder.ts'),
  ])
  const here = ioHere({ name: config.host.name, data: config.data })
  return from === undefined ? here : recordedHostIn(from, here)
}

const scan = async (config: Config, io: HostIo) => {
  const [
    { pciHere },
    { scannedDevices },
    { exampleSetting },
    { keptByKernel, offeredBy, refusedOf, surveyHost },
    { passableHere },
    { keptBy },
    { unreachable },
    { formatPciAddress },
  ] = await Promise.all([
    import('../hardware/pciHere.ts'),
    import('../../drivers/pci/scan.ts'),
    import('../../drivers/pci/whitelistHint.ts'),
    import('../hardware/survey.ts'),
    import('../../drivers/passable.ts'),
    import('../../drivers/index.ts'),
    import('../../drivers/pci/ruleOfUse.ts'),
    import('../../vocabulary/pci.ts'),
  ])
  const { driverEnabled, whitelist, look, sysfsRoot } = pciHere(config, io)
  const seen = await look()
  const { drivers: options, enabledDrivers } = config
  const drivers = await surveyHost({ io, options, enabledDrivers, begins })
  const functions = seen.map(({ found }) => found)
  const whyKept = keptBy(options)
  const kept = new Map(
    functions.flatMap((found) => {
      const reason = unreachable(found) ?? whyKept(found, functions, null)
      return reason === null ? [] : [[formatPciAddress(found.address), reason] as const]
    }),
  )
  const isFree = ({ found, entry }: (typeof seen)[number]): boolean =>
    entry === null && !kept.has(formatPciAddress(found.address))
  return {
    drivers,
    // if no driver is enabled yet, the operator asks about all hardware that was found
    passable: await passableHere(
      io,
      sysfsRoot,
      { offered: offeredBy(drivers, true), kept: keptByKernel(drivers, true) },
      functions,
    ),
    devices: scannedDevices(seen, {
      driverEnabled,
      whitelistSet: whitelist.length > 0,
      kept,
      ...refusedOf(drivers, 'pci_driver'),
    }),
    example: exampleSetting(seen.filter(isFree).map(({ found }) => found)),
  }
}

const record = async (config: Config, folder: string) => {
  const [{ recorder }, { writeRecording }] = await Promise.all([
    import('../../drivers/recording.ts'),
    import('../hardware/recordingFolder.ts'),
  ])
  const { io, recording } = recorder(await hostOf(config, undefined))
  await scan(config, io)
  await writeRecording(folder, recording())
}

type Scanning = Flags & OutputFlags & { readonly from?: string }
export const devices: Register = (program) => {
  const family = program
    .command('device')
    .alias('devices')
    .description(
      'The devices that a running service knows, and (scan, record) the hardware of this machine without any service.',
    )
  inventory(family)
  const scanning = family
    .command('scan')
    .description(
      'Shows what each driver finds on this machine, what Placement would be told of it, what is left out and why, and all PCI functions.',
    )
    .example('accelerando device scan', 'accelerando device scan --from ./my-host --json')
  addOutput(addFlags(scanning, PROGRAM_FLAGS.scan), FOUND)
    .option('--json', 'one JSON value with all of it')
    .option('--from <DIR>', 'a recorded host instead of this machine')
    .action(
      withPlainErrors(async (flags: Scanning) => {
        const config = configured(flags)
        if (!config) return
        const { foundIn, scanJson, scanLines } = await import('../operators/surveyLines.ts')
        const found = await scan(config, await hostOf(config, flags.from))
        const document = scanJson(found)
        present(flags, { document, rows: foundIn(found), columns: FOUND, text: () => scanLines(found), report: true })
      }),
    )
  addFlags(
    family
      .command('record')
      .argument('<DIR>', 'a new or empty folder')
      .description(
        'Writes what the drivers read of this machine to a folder, without serial numbers: to be sent to others, who replay it with device scan --from.',
      )
      .example('accelerando device record ./my-host'),
    PROGRAM_FLAGS.scan,
  ).action(
    withPlainErrors(async (folder: string, flags: Flags) => {
      const config = configured(flags)
      if (!config) return
      await record(config, folder)
      outLines([`recorded in ${folder}: look through it before you send it to anybody`])
    }),
  )
}
