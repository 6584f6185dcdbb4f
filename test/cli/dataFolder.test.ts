import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { makeDataFolder } from '../../src/cli/programs/dataFolder.ts'
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
  it('below a folder that others may write to is named too, and not below one like /tmp', async () => {
    mkdirSync(join(root, 'shared'))
    chmodSync(join(root, 'shared'), 0o1777)
    expect(await opened('shared/own')).toEqual([])
    chmodSync(join(root, 'shared'), 0o777)
    expect(await opened('shared/own')).toMatchObject([
      { folder: join(root, 'shared'), reason: 'everybody on this machine may write to it' },
    ])
  })
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
