/**
 * What is known of the image in a card: the ids that the kernel shows, and the file in which a driver keeps what it
 * loaded.
 */
import { expect, test } from 'vitest'
import { readFpgaPart } from '../../src/drivers/fpga/intelSysfs.ts'
import { imageIdOf, loadedImages } from '../../src/drivers/fpga/loadedImages.ts'
import { parsePciAddress } from '../../src/pci.ts'
import { recordedHostIo, type Tree } from './recordedHostIo.ts'

const [A, B] = ['a', 'b'].map((letter) => letter.repeat(32)) as [string, string]
const partOf = (own: Tree) =>
  readFpgaPart(
    recordedHostIo({ sys: { bus: { pci: { devices: { '0000:b1:00.0': own } } } } }),
    '/sys',
    parsePciAddress('0000:b1:00.0')!,
  )
const opae = (id: string, name = 'intel-fpga-fme.0', port = 'intel-fpga-port.0') => ({
  'intel-fpga-dev.0': { [name]: { pr: { interface_id: id } }, [port]: { afu_id: id } },
})

test('ids are 32 hex digits, sorted, each once; names are whole', async () => {
  expect(await partOf({})).toEqual({ served: false, regions: [], functions: [] })
  expect(await partOf({ fpga: { 'intel-fpga-dev.0': {} } })).toEqual({ served: true, regions: [], functions: [] })
  expect(await partOf({ fpga: opae(` ${A.toUpperCase()}\n`) })).toEqual({ served: true, regions: [A], functions: [A] })
  for (const id of [`x${A}`, `${A}x`, `${A}a`, A.slice(1)])
    expect(await partOf({ fpga: opae(id) })).toEqual({ served: true, regions: [], functions: [] })
  for (const names of [
    ['xintel-fpga-fme.0', 'xintel-fpga-port.0'],
    ['intel-fpga-fme.0x', 'intel-fpga-port.0x'],
  ] as const)
    expect(await partOf({ fpga: opae(A, ...names) })).toEqual({ served: true, regions: [], functions: [] })
  const dfl = (region: string, id: string) => ({
    [region]: {
      'dfl-fme.0': { 'dfl-fme-region.0': { fpga_region: { region7: { compat_id: id }, xregion7: { compat_id: B } } } },
      'dfl-port.0': { afu_id: id },
      'dfl-port.0x': { afu_id: B },
    },
  })
  expect(await partOf({ fpga_region: { ...dfl('region0', B), ...dfl('region1', A) }, fpga: opae(A) })).toEqual({
    served: true,
    regions: [A, B],
    functions: [A, B],
  })
  const odd = { xregion: { 'dfl-fme.0x': { 'dfl-fme-region.0': { fpga_region: { region7: { compat_id: A } } } } } }
  const odder = { region0: { 'dfl-fme.0': { 'xdfl-fme-region.0': { fpga_region: { region7: { compat_id: A } } } } } }
  expect(await partOf({ fpga_region: { ...odd, ...odder } })).toEqual({ served: true, regions: [], functions: [] })
})

test('what a card showed is known while a guest has the function that shows it', async () => {
  const io = recordedHostIo({})
  const images = loadedImages('d')
  const shown = async (shows: string, hidden = false) =>
    (await images.shown(io, [{ deployable: 'one', shows, hidden, card: null }], images.writes()))('one')
  expect(await shown('', true)).toBe('')
  expect(await shown('A')).toBe('A')
  expect(await shown('', true)).toBe('A')
  expect(await shown('')).toBe('')
  expect(await shown('B', true)).toBe('A')
  expect((await images.shown(io, [], 0))('other')).toBe('')
  expect(io.kept()).toEqual({ '/state/d.loaded.json': '{"loaded":{},"seen":{"one":"A"}}' })
})
test('what a card showed before the machine was started is not known any more', async () => {
  const io = recordedHostIo({ proc: { sys: { kernel: { random: { boot_id: 'one\n' } } } } })
  const images = loadedImages('d')
  const shown = async (shows: string, hidden = false) =>
    (await images.shown(io, [{ deployable: 'one', shows, hidden, card: null }], images.writes()))('one')
  await io.keep('/state/d.loaded.json', '{"loaded":{},"seen":{"one":"A"}}')
  // by a release that did not say when it was seen
  expect(await shown('', true)).toBe('A')
  await images.note(io, { deployable: 'one', shows: 'A', card: null }, { image: 'i', shows: 'A' })
  expect(io.kept()['/state/d.loaded.json']).toBe(
    '{"loaded":{"one":{"image":"i","shows":"A"}},"boot":"one","seen":{"one":"A"}}',
  )
  io.tree('/proc/sys/kernel/random')['boot_id'] = 'two\n'
  expect(await shown('', true)).toBe('')
  expect(await shown('A')).toBe('A')
  expect(await shown('', true)).toBe('A')
})
test('the image of a card is known as long as the card shows the same', async () => {
  const io = recordedHostIo({})
  const images = loadedImages('d')
  const read = async (name: string, shows: string) => (await images.read(io))(name, shows)
  expect(await read('one', 'A')).toBe(undefined)
  await images.note(io, { deployable: 'one', shows: '', card: null }, { image: 'i', shows: 'A', functionId: 'f' })
  await images.note(io, { deployable: 'two', shows: 'A', card: null }, { image: 'j', shows: 'A' })
  expect(await read('one', 'A')).toEqual({ image: 'i', shows: 'A', functionId: 'f' })
  expect(await read('one', 'B')).toBe(undefined)
  expect(await read('constructor', 'A')).toBe(undefined)
  await images.forget(io, 'one')
  expect([await read('one', 'A'), await read('two', 'A')]).toEqual([undefined, { image: 'j', shows: 'A' }])
  expect(io.kept()).toEqual({
    '/state/d.loaded.json': '{"loaded":{"two":{"image":"j","shows":"A"}},"seen":{"two":"A"}}',
  })
})
test('what a card shows after it was written is known at once, and while it is written nothing is', async () => {
  const io = recordedHostIo({ proc: { sys: { kernel: { random: { boot_id: 'one\n' } } } } })
  const images = loadedImages('d')
  const card = (shows: string, hidden = false) => [{ deployable: 'one', shows, hidden, card: null }]
  const hidden = async () => (await images.shown(io, card('', true), images.writes()))('one')
  await images.shown(io, card('old'), images.writes())
  await images.forget(io, 'one')
  expect(await hidden()).toBe('')
  await images.note(io, { deployable: 'one', shows: 'new', card: null }, { image: 'i', shows: 'all' })
  expect(await hidden()).toBe('new')
  // of an earlier run of the machine
  io.tree('/proc/sys/kernel/random')['boot_id'] = 'two\n'
  await images.note(io, { deployable: 'two', shows: 'other', card: null }, { image: 'i', shows: 'all' })
  expect(await hidden()).toBe('')
})
test('what was read of a card before it was written is not taken for what it shows', async () => {
  const io = recordedHostIo({})
  const images = loadedImages('d')
  const cards = (shows: string) =>
    ['one', 'two'].map((deployable) => ({ deployable, shows, hidden: false, card: null }))
  const since = images.writes()
  await images.forget(io, 'one')
  const during = await images.shown(io, cards('old'), since)
  expect([during('one'), during('two')]).toEqual(['old', 'old'])
  const begun = images.writes()
  await images.note(io, { deployable: 'one', shows: 'new', card: null }, { image: 'i', shows: 'all' })
  for (const before of [since, begun]) {
    const after = await images.shown(io, cards('old'), before)
    expect([after('one'), after('two')]).toEqual(['new', 'old'])
  }
  expect(JSON.parse(io.kept()['/state/d.loaded.json']!)).toMatchObject({ seen: { one: 'new', two: 'old' } })
  expect((await images.shown(io, cards('newer'), images.writes()))('one')).toBe('newer')
})
test('a file of a former release says nothing of what was seen, and a broken one is refused', async () => {
  const io = recordedHostIo({})
  await io.keep('/state/d.loaded.json', `{"loaded":{"one":{"image":"${'i'.repeat(100)}","shows":"A"}}}`)
  expect((await loadedImages('d').read(io))('one', 'A')).toEqual({ image: 'i'.repeat(100), shows: 'A' })
  await io.keep('/state/d.loaded.json', `{"loaded":{"one":{"image":"${'i'.repeat(101)}","shows":"A"}}}`)
  await expect(loadedImages('d').read(io)).rejects.toThrow('/state/d.loaded.json')
})
test('the name of a file is the id of its image', () =>
  expect(['/a.b/id.gbs', 'id', '/x/id.tar.gz', '/x/.hidden'].map(imageIdOf)).toEqual(['id', 'id', 'id.tar', '.hidden']))
