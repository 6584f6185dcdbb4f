/** Which of Nova's configuration files are read, and what is made of the devices that they name. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfFiles } from '../../../src/cli/novaConf/files.ts'
import { novaDevicesIn } from '../../../src/cli/novaConf/novaDevices.ts'
import { readOslo } from '../../../src/cli/oslo/osloFile.ts'
import { settingsOf } from '../../../src/cli/oslo/settings.ts'
import { tempFolder } from '../../support/program.ts'

describe('the files', () => {
  const folder = tempFolder('nova-files')
  afterAll(folder.remove)
  const at = (name: string): string => join(folder.path, name)
  const written = (name: string, text: string): string => {
    writeFileSync(at(name), text)
    return at(name)
  }
  test('of a folder are those named *.conf, in the order of their names; a file may have any name', () => {
    mkdirSync(at('parts'))
    for (const name of ['b.conf', 'a.conf', 'c.conf.off', 'conf']) written(`parts/${name}`, `[${name}]\nx = ${name}\n`)
    const one = written('nova.anything', '[one]\nx = 1\n[two]\ny = 2\n')
    const { files, problems } = readConfFiles([at('parts'), one])
    expect(problems).toEqual([])
    expect(files.map((assignments) => assignments.map(({ section, value }) => `${section} ${value}`))).toEqual([
      ['a.conf a.conf'],
      ['b.conf b.conf'],
      ['one 1', 'two 2'],
    ])
    expect(files[2]![1]).toEqual({ section: 'two', key: 'y', value: '2', at: `${one}:4` })
  })
  test('that cannot be read, and lines that mean nothing, are problems; the others are read', () => {
    const odd = written('odd.conf', 'before = 1\n[a]\nx = 2\nnothing\n')
    const { files, problems } = readConfFiles([odd, at('gone.conf'), odd])
    expect(files.map((assignments) => assignments.map(({ value }) => value))).toEqual([['2'], ['2']])
    const lines = [
      { at: `${odd}:1`, rule: 'before must stand in a section' },
      { at: `${odd}:4`, rule: 'the line must be a section, a comment, or have = or :' },
    ]
    expect(problems).toEqual([
      { at: at('gone.conf'), rule: expect.stringMatching(/^it cannot be read: ENOENT/) },
      ...lines,
      ...lines,
    ])
  })
  test('of a folder are at most a thousand', () => {
    mkdirSync(at('many'))
    for (let number = 0; number < 1000; number++) written(`many/${number}.conf`, '')
    expect(readConfFiles([at('many')]).files).toHaveLength(1000)
    written('many/more.conf', '')
    expect(readConfFiles([at('many')])).toEqual({
      files: [],
      problems: [{ at: at('many'), rule: 'it cannot be read: the folder holds more than 1000 files *.conf' }],
    })
  })
})

describe('the devices', () => {
  const novaOf = (...lines: readonly string[]) =>
    novaDevicesIn(settingsOf([readOslo(lines.join('\n'), 'nova.conf').assignments]))
  test('are known by vendor, product, address and interface alone', () => {
    const spec =
      '{"vendor_id": " 8086 ", "product_id": "37c8", "address": {"domain": "0", "bus": "af", "slot": "1", "function": "2"}, "managed": "yes"}'
    const { specs, problems } = novaOf('[pci]', `device_spec = ${spec}`, 'device_spec = {"devname": "eth0"}')
    expect(problems).toEqual([])
    expect(specs.map(({ text, at }) => [text, at])).toEqual([
      [JSON.stringify(JSON.parse(spec)), 'nova.conf:2'],
      ['{"devname":"eth0"}', 'nova.conf:3'],
    ])
    expect(specs.map(({ entry }) => [entry.vendorId, entry.productId, entry.devname])).toMatchInlineSnapshot(`
      [
        [
          "8086",
          "37c8",
          null,
        ],
        [
          null,
          null,
          "eth0",
        ],
      ]
    `)
  })
  test('have no empty address, and no empty name of an interface', () => {
    const { specs, problems } = novaOf('[pci]', 'device_spec = {"vendor_id": "8086", "address": "", "devname": ""}')
    expect([specs.length, problems]).toEqual([1, []])
    expect(novaOf('[pci]', 'device_spec = {"vendor_id": 8086}').problems).toMatchInlineSnapshot(`
      [
        {
          "at": "nova.conf:2",
          "rule": "pci.device_spec.vendor_id: must be hex text or *, is 8086",
        },
      ]
    `)
  })
  test('that are divided: by the types that have addresses; of the others the first is for all other functions', () => {
    const { mdevOf, mdevDefault, problems, specs } = novaOf(
      '[devices]',
      'enabled_vgpu_types = nvidia-9',
      'enabled_mdev_types = nvidia-35, , nvidia-36,nvidia-37 ,Nvidia-38',
      '[mdev_nvidia-35]',
      'device_addresses = 0000:84:00.0 ,, 0000:85:00.0',
      '[vgpu_nvidia-38]',
      'device_addresses = 0000:86:00.0,nowhere',
    )
    expect(Object.fromEntries(mdevOf)).toEqual({
      '0000:84:00.0': { type: 'nvidia-35', at: 'nova.conf:5' },
      '0000:85:00.0': { type: 'nvidia-35', at: 'nova.conf:5' },
      '0000:86:00.0': { type: 'Nvidia-38', at: 'nova.conf:7' },
    })
    expect(mdevDefault).toEqual({ type: 'nvidia-36', at: 'nova.conf:3' })
    expect(problems).toEqual([
      { at: 'nova.conf:7', rule: "device_addresses: must be PCI addresses with commas, has 'nowhere'" },
    ])
    expect(specs).toEqual([])
  })
  test('are none where nothing is said of them, and a value that cannot be known is a problem', () => {
    expect(novaOf('[pci]', 'alias = {}')).toEqual({ specs: [], mdevOf: new Map(), mdevDefault: null, problems: [] })
    expect(novaOf('[devices]', 'enabled_mdev_types = $types').problems).toEqual([
      { at: 'nova.conf:2', rule: '$types must be set in the files that are named' },
    ])
  })
})

test.each([
  ['$a', ['a = $b', 'b = $c', 'c = $d', 'd = $e', 'e = $f', 'f = $g', 'g = $h', 'h = $i', 'i = $j', 'j = end'], 'end'],
  ['$A_b.C', ['[a_b]', 'C = found'], 'found'],
  ['${x', [], '${x'],
  ['$a.b.c', ['[a]', 'b.c = deep'], 'deep'],
  ['\\$a$$', ['a = no'], '$a$'],
])('%s stands for what is set, over at most ten steps', (text, more, value) => {
  const read = settingsOf([readOslo(['[pci]', `key = ${text}`, ...more].join('\n'), 'f').assignments])
  expect([read.last([['pci', 'key']]), read.problems()]).toEqual([{ value, at: 'f:2' }, []])
})
test('eleven steps are too many, and one problem is told once', () => {
  const chain = Array.from({ length: 12 }, (_, at) => `k${at} = $k${at + 1}`)
  const read = settingsOf([
    readOslo(['[pci]', ...chain, 'k12 = end', 'twice = $none $none'].join('\n'), 'f').assignments,
  ])
  expect(read.last([['pci', 'k2']])).toEqual({ value: 'end', at: 'f:4' })
  expect(read.problems()).toEqual([])
  expect(read.last([['pci', 'k1']])?.value).toBe('$k12')
  expect(read.problems()).toEqual([{ at: 'f:13', rule: '$k12 leads back to itself' }])
  read.last([['pci', 'twice']])
  expect(read.problems().slice(1)).toEqual([{ at: 'f:15', rule: '$none must be set in the files that are named' }])
})
