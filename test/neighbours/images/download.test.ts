/** One download, byte by byte: what is asked for, what is written, and what is left when it fails. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Image, noImage } from '../../../src/images.ts'
import { download } from '../../../src/neighbours/images/download.ts'
import { fileNameOf } from '../../../src/neighbours/images/fileName.ts'
import type { Glance } from '../../../src/neighbours/images/glance.ts'
import { describedIn, descriptionText } from '../../../src/neighbours/images/keptDescription.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'accelerando-download-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const BITS = '0123456789'
const UUID = '4a3bd0ae-0000-4000-8000-00000000abcd'
const sha = (text: string) => ({ algorithm: 'sha256', value: createHash('sha256').update(text).digest('hex') })
const IMAGE: Image = { uuid: UUID, name: null, size: 10, digest: sha(BITS), tags: [], properties: {} }
/** Glance answers with these parts from `start` on, or with something else. */
const glanceWith = (
  answer: { readonly start: number; readonly parts: readonly string[] } | ReturnType<typeof noImage> | null,
) => {
  const asked: unknown[] = []
  const bytes: Glance['bytes'] = async (image, from) => {
    asked.push([image, from])
    if (answer === null || !('parts' in answer)) return answer
    const body = (async function* () {
      for (const part of answer.parts) yield Buffer.from(part)
    })()
    return { found: true, start: answer.start, body }
  }
  return { asked, glance: { bytes } as Glance }
}
const files = () =>
  Object.fromEntries(
    readdirSync(dir)
      .toSorted()
      .map((name) => [name, readFileSync(join(dir, name), 'utf8')]),
  )
/** `part`: what a former download has left. */
const downloaded = async (
  answer: Parameters<typeof glanceWith>[0],
  { part, image = IMAGE }: { readonly part?: string; readonly image?: Image } = {},
) => {
  if (part !== undefined) writeFileSync(join(dir, 'part'), part)
  const { asked, glance } = glanceWith(answer)
  const place = { dir, whole: join(dir, 'bits'), part: join(dir, 'part') }
  const problem = await download(glance, { image, size: 10, place, signal: new AbortController().signal })
  return { problem, asked, files: files() }
}
const DONE = { problem: null, files: { bits: BITS } }

test('DOWNLOAD-1 what came whole and right is there under its final name', async () => {
  expect(await downloaded({ start: 0, parts: ['0123', '', '456789'] })).toEqual({ ...DONE, asked: [[UUID, 0]] })
})
test('DOWNLOAD-2 what is there already is not asked for, and what follows is put behind it', async () => {
  expect(await downloaded({ start: 4, parts: ['456', '789'] }, { part: '0123' })).toEqual({
    ...DONE,
    asked: [[UUID, 4]],
  })
})
test('DOWNLOAD-2 a service that sends everything begins anew', async () => {
  expect(await downloaded({ start: 0, parts: [BITS] }, { part: 'wrong' })).toEqual({ ...DONE, asked: [[UUID, 5]] })
})
test('a file that is whole already is only verified, one that is too long is begun anew', async () => {
  expect(await downloaded(null, { part: BITS })).toEqual({ ...DONE, asked: [] })
  rmSync(join(dir, 'bits'))
  expect(await downloaded({ start: 0, parts: [BITS] }, { part: `${BITS}x` })).toEqual({ ...DONE, asked: [[UUID, 0]] })
})
test('DOWNLOAD-2 what came before the end of the connection stays for the next attempt', async () => {
  expect(await downloaded({ start: 0, parts: ['0123', '45678'] })).toEqual({
    problem: noImage('unavailable', 'the download ended after 9 of 10 bytes'),
    asked: [[UUID, 0]],
    files: { part: '012345678' },
  })
})
test('DOWNLOAD-3 when more bytes come than the image has, nothing is kept', async () => {
  const more = noImage('corrupt', 'more bytes came than it has')
  expect(await downloaded({ start: 0, parts: [BITS, 'x'] })).toMatchObject({ problem: more, files: {} })
  expect(await downloaded({ start: 4, parts: ['4567890'] }, { part: '0123' })).toMatchObject({
    problem: more,
    files: {},
  })
})
test('DOWNLOAD-4 bytes that do not match the digest are not kept; without a digest nothing is compared', async () => {
  const wrong = { start: 0, parts: ['9876543210'] }
  expect(await downloaded(wrong)).toMatchObject({ problem: noImage('corrupt'), files: {} })
  expect(await downloaded(wrong, { image: { ...IMAGE, digest: null } })).toMatchObject({
    problem: null,
    files: { bits: '9876543210' },
  })
})
test('a service that has fewer bytes than are there already is asked from the beginning next time', async () => {
  expect(await downloaded(null, { part: '0123' })).toEqual({
    problem: noImage('unavailable', 'the image service has no more bytes than were received, which are too few'),
    asked: [[UUID, 4]],
    files: {},
  })
})
test('what the service says instead of bytes is told, and what is there stays', async () => {
  expect(await downloaded(noImage('forbidden'), { part: '0123' })).toEqual({
    problem: noImage('forbidden'),
    asked: [[UUID, 4]],
    files: { part: '0123' },
  })
})

test('a file has the suffix that tools expect of its first bytes', async () => {
  const named = async (bytes: string) => {
    writeFileSync(join(dir, 'bits'), Buffer.from(bytes, 'latin1'))
    return (await fileNameOf(IMAGE, join(dir, 'bits'))).slice(UUID.length)
  }
  expect([await named('xclbin2'), await named('xclbin2 and more, as long as a file is')]).toEqual([
    '.xclbin',
    '.xclbin',
  ])
  expect([await named('XeonFPGA\xb7GBSv'), await named('XeonFPGA\xb7GBSv003')]).toEqual(['.gbs', '.gbs'])
  for (const other of ['', 'xclbin', 'xclbin1', ' xclbin2', 'XeonFPGA\xb7GBS', 'XeonFPGA\xb8GBSv'])
    expect([other, await named(other)]).toEqual([other, '.bin'])
  expect(await fileNameOf(IMAGE, join(dir, 'bits'))).toBe(`${UUID}.bin`)
})

test('a description that was kept is that image, whole, or none', () => {
  const full: Image = { ...IMAGE, name: 'aes', tags: ['FPGA'], properties: { 'bs-name': 'b' } }
  const bare: Image = { ...IMAGE, size: null, digest: null }
  for (const image of [full, bare]) expect(describedIn(descriptionText(image), UUID)).toEqual(image)
  const broken = [
    ...(['uuid', 'name', 'size', 'digest', 'tags', 'properties'] as const).map((field) => ({
      ...full,
      [field]: undefined,
    })),
    { ...full, name: 7 },
    { ...full, size: -1 },
    { ...full, size: 0.5 },
    { ...full, digest: { algorithm: 'sha256' } },
    { ...full, digest: { value: 'ab' } },
    { ...full, tags: [7] },
    { ...full, properties: { a: 7 } },
  ]
  for (const one of broken) expect([one, describedIn(JSON.stringify(one), UUID)]).toEqual([one, null])
  expect([describedIn('', UUID), describedIn(descriptionText(full), UUID.replace('4a', '4b'))]).toEqual([null, null])
  expect(describedIn(JSON.stringify({ ...full, size: 0 }), UUID)).toEqual({ ...full, size: 0 })
})
