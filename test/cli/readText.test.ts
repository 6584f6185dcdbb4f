/** The files of the configuration as they are read: whole, or with what is wrong. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readText } from '../../src/cli/config/readText.ts'

test('a file is read whole, and one that is longer than the limit is refused', () => {
  const folder = mkdtempSync(join(tmpdir(), 'read-text-'))
  const path = join(folder, 'file')
  try {
    for (const text of ['', 'größer', 'x'.repeat(4 * 1024 * 1024)]) {
      writeFileSync(path, text)
      expect(readText(path) === text).toBe(true)
    }
    writeFileSync(path, 'x'.repeat(4 * 1024 * 1024 + 1))
    expect(() => readText(path)).toThrow('it is longer than 4194304 bytes')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a device without end is refused at once', () => expect(() => readText('/dev/zero')).toThrow(/longer than/))
test('a folder, and what does not exist, say what they are', () => {
  expect(() => readText(tmpdir())).toThrow('EISDIR')
  expect(() => readText(join(tmpdir(), 'no-such-file'))).toThrow('ENOENT')
})
