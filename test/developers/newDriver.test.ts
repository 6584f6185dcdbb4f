/** Carries out `docs/developers/a-new-driver.md`: its commands, its row, and its driver, taken from the page itself. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import type { Driver } from '../../src/drivers/driver.ts'
import { driverContract, never, slotsOf } from '../drivers/driver.contract.ts'
import { recordedHost, recordedHostIo, unpackRecording } from '../drivers/recordedHostIo.ts'
import { pciTree } from '../drivers/trees.ts'
import { commandHere } from '../support/commandHere.ts'
import { tempFolder } from '../support/program.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'docs/developers/a-new-driver.md'), 'utf8')
/** The indented blocks of a section, without the indentation. */
const blocksOf = (section: string): readonly string[] => {
  const text = PAGE.slice(PAGE.indexOf(`## ${section}`)).split('\n## ')[0]!
  return [...text.matchAll(/(?:^ {4}.*\n|^\n(?= {4}))+/gm)].map(([block]) => block.replaceAll(/^ {4}/gm, '').trim())
}

const folder = tempFolder('new-driver')
const sysfs = join(folder.path, 'sys')
unpackRecording('mixed-host', sysfs)
const data = join(folder.path, 'data')
mkdirSync(data)
afterAll(folder.remove)

test('steps 1 and 2: a recorded host, and a row that offers its card', async () => {
  const recording = join(folder.path, 'my-host')
  const env = { ACCELERANDO_PCI_SYSFS_ROOT: sysfs, ACCELERANDO_DATA: data }
  const [record] = blocksOf('1. ')
  expect(record).toBe('accelerando device record ./my-host')
  expect((await commandHere(['devices', 'record', recording], env)).code).toBe(0)
  const [row, scan] = blocksOf('2. ')
  const cards = join(folder.path, 'cards.yaml')
  writeFileSync(cards, row!)
  const settings = [...scan!.matchAll(/(ACCELERANDO_\w+)=(\S+)/g)].map(([, name, value]) => [name!, value!])
  const given = Object.fromEntries(settings.map(([name, value]) => [name, value === 'cards.yaml' ? cards : value]))
  expect(scan).toMatch(/ accelerando device scan --from \.\/my-host$/)
  const { code, out } = await commandHere(['devices', 'scan', '--from', recording], { ...env, ...given })
  expect(code).toBe(0)
  expect(out).toMatch(
    /^id_table_driver +0000:00:13\.0 +AICHIP +Example NPU +1 +CUSTOM_AICHIP +CUSTOM_AICHIP_1AF4 CUSTOM_AICHIP_PRODUCT_ID_1044 CUSTOM_AICHIP_1AF4_EXAMPLE$/m,
  )
})

/** As it would be imported from a folder of its own beside the other drivers. */
const code = blocksOf('3. ')[0]!.replaceAll(
  /from '(\.\.[^']+)'/g,
  (_, path: string) => `from '${resolve(ROOT, 'src/drivers/example', path)}'`,
)
const module = join(folder.path, 'example.ts')
writeFileSync(module, code)
const { exampleDriver } = (await import(pathToFileURL(module).href)) as { readonly exampleDriver: () => Driver }

test('step 3: the driver writes what it says, once the card is bound', async () => {
  const power = { power: { control: 'auto\n' } }
  const tree = pciTree({ '0000:00:13.0': { vendor: '1af4', device: '1044', class: '00ff00', more: power } })
  const io = recordedHostIo({ sys: tree })
  const driver = exampleDriver()
  const [slot] = slotsOf(await driver.discover(io))
  await driver.prepare(io, slot!, never)
  expect(await io.read('/sys/bus/pci/devices/0000:00:13.0/power/control')).toBe('on')
})

test('step 4: the page adds the driver as it is added here', () =>
  expect(blocksOf('4. ')[0]).toContain("driverContract('example_driver', () => ({"))
driverContract('the driver of the page', () => {
  const io = recordedHost('mixed-host')
  io.tree('/sys/bus/pci/devices/0000:00:13.0')['power'] = { control: 'auto\n' }
  return { driver: exampleDriver(), io }
})

test('steps 5 and 6 name what is there', () => {
  for (const path of PAGE.match(/`(?:src|test)\/[\w./]+`/g)!) readFileSync(join(ROOT, path.slice(1, -1)))
})
