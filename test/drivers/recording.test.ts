/** What a recording of a host holds, and what it must not. */
import { expect, test } from 'vitest'
import { outputWithoutSecrets, recorder, withoutSecrets } from '../../src/drivers/recording.ts'
import { recordedHostIo } from './recordedHostIo.ts'

test.each([
  ['/sys/bus/pci/devices/x/serial', 'S3CR3T\n', 'removed\n'],
  ['/sys/bus/pci/devices/x/vendor', '0x10de\n', '0x10de\n'],
  [
    '/proc/cmdline',
    'ro rd.iscsi.password=S3CR3T ip=10.0.0.1 intel_iommu=on iommu=pt quiet\n',
    'intel_iommu=on iommu=pt',
  ],
  ['/proc/cpuinfo', 'processor : 0\nvendor_id : GenuineIntel\nSerial : S3CR3T\n', 'vendor_id : GenuineIntel'],
  [
    '/proc/swaps',
    'Filename Type\n/dev/nvme0n1p1 partition 1\n/home/alice/swap file 1\n/dev/mapper/luks-S3CR3T partition 1\n',
    'Filename Type\n/dev/nvme0n1p1 partition 1',
  ],
  [
    '/proc/1/mountinfo',
    '36 35 259:1 / /home/alice rw shared:1 - ext4 /dev/nvme0n1p1 rw,secret\n37 35 0:5 / /srv rw - ext4 /dev/mapper/vg-S3CR3T rw',
    '36 35 259:1 / /removed rw - ext4 /dev/nvme0n1p1 rw\n37 35 0:5 / /removed rw - ext4 none rw',
  ],
])('of %s', (path, text, kept) => expect(withoutSecrets(path, text)).toBe(kept))

test('of what programs print', () => {
  const text = 'UUID: 01234567-89ab-cdef-0123-456789abcdef, Serial Number : 1234-X\n"serial": "ABC"\nname: T4'
  expect(outputWithoutSecrets(text)).toBe('UUID: removed, Serial Number : removed\n"serial": "removed"\nname: T4')
})

test('the tree holds what was asked for, with its links, and nothing of the driver itself', async () => {
  const host = recordedHostIo({
    sys: { a: { link: { '->': '/sys/b/c' } }, b: { c: { file: 'text', other: 'not asked for' }, d: {} } },
  })
  await host.write('/state/own.json', '{}')
  const { io, recording } = recorder(host)
  expect(await io.read('/sys/a/link/file')).toBe('text')
  expect(await io.list('/sys/b')).toEqual(['c', 'd'])
  expect(await io.link('/sys/a/link')).toBe('/sys/b/c')
  await io.read('/state/own.json')
  await expect(io.read('/sys/none')).rejects.toMatchObject({ code: 'ENOENT' })
  await expect(io.run('/bin/none', ['-a'], 1000)).rejects.toThrow('ENOENT')
  await io.write('/sys/b/c/file', 'changed')
  expect(await host.read('/sys/b/c/file')).toBe('text')
  expect(recording()).toEqual({
    tree: { sys: { a: { link: { '->': '../b/c' } }, b: { c: { file: 'text' }, d: {} } } },
    runs: [{ program: '/bin/none', args: ['-a'], output: null, error: expect.stringContaining('ENOENT') }],
  })
})
