import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { exposureOf, makeDataFolder } from '../../src/cli/programs/dataFolder.ts'
import { silent } from '../../src/log.ts'

describe('the data folder', () => {
  const root = mkdtempSync(join(tmpdir(), 'accelerando-data-'))
  afterAll(() => rmSync(root, { recursive: true }))
  const opened = async (name: string) => {
    const lines: object[] = []
    await makeDataFolder(join(root, name), { ...silent, warn: (fields, message) => lines.push({ ...fields, message }) })
    return lines
  }

  it('is made, with what lies above it, or taken as it is, by a link too', async () => {
    expect(await opened('new/below')).toEqual([])
    expect(await opened('new/below')).toEqual([])
    symlinkSync(join(root, 'new'), join(root, 'link'))
    expect(await opened('link')).toEqual([])
  })
  it('that everybody may write to is named once', async () => {
    mkdirSync(join(root, 'open'))
    chmodSync(join(root, 'open'), 0o777)
    expect(await opened('open')).toEqual([
      {
        folder: join(root, 'open'),
        reason: 'everybody on this machine may write to it',
        message: 'data.folderExposed',
      },
    ])
  })
  it.each([
    [{ uid: 7, mode: 0o40755 }, 7, null],
    [{ uid: 7, mode: 0o40775 }, 7, null],
    [{ uid: 7, mode: 0o40757 }, 7, 'everybody on this machine may write to it'],
    [{ uid: 8, mode: 0o40700 }, 7, 'it belongs to another user (8)'],
    [{ uid: 0, mode: 0o40700 }, undefined, null],
  ])('with %o is exposed for user %s: %s', (folder, user, expected) => expect(exposureOf(folder, user)).toBe(expected))
  it('is refused at once where nothing can be made', async () => {
    await expect(makeDataFolder('/proc/nope/below', silent)).rejects.toThrow(
      /^data: \/proc\/nope\/below is not a folder/,
    )
  })
  it.each(['file', 'dangling', 'file/below'])('that cannot be one is refused: %s', async (name) => {
    writeFileSync(join(root, 'file'), '')
    rmSync(join(root, 'dangling'), { force: true })
    symlinkSync(join(root, 'nowhere'), join(root, 'dangling'))
    await expect(opened(name)).rejects.toThrow(
      new RegExp(
        `^data: ${join(root, name)} is not a folder that this program may write to \\(.*\\); name another one by --data$`,
      ),
    )
  })
})
