/** What an audit of a journal file tells of itself. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { INVARIANTS } from '../../src/audit/check.ts'
import { audit } from '../../src/cli/audit/audit.ts'
import { memoryLog } from '../support/lab.ts'

test('an audit tells its seconds and the memory of its process in MB, and writes the journal that it has read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'accelerando-audited-'))
  const [file, copy] = [join(folder, 'journal.ndjson'), join(folder, 'copy.ndjson')]
  const row = { key: 'host/h1', version: 1, commandId: 'c1', events: [], at: 5, cause: {}, position: '1' }
  await writeFile(file, `${JSON.stringify(row)}\n`)
  const config = { database: null, data: folder, kafka: null }
  const moments = vi.spyOn(performance, 'now').mockReturnValueOnce(10_000).mockReturnValue(15_000)
  const usage = vi.spyOn(process, 'resourceUsage').mockReturnValue({ maxRSS: 2048 } as NodeJS.ResourceUsage)
  try {
    const options = { config, folder: false, file, topicFile: null, hostData: [], clients: [] }
    const limits = { now: null, stopped: true, settled: false, slackMs: 0, skewMs: 0 }
    const verdict = await audit({ ...options, ...limits }, copy, memoryLog())
    const left = verdict.unjudged.flatMap(({ invariants }) => invariants)
    expect(left).toEqual(expect.arrayContaining(['S5', 'S8', 'S11', 'I16', 'L3', 'L4']))
    expect(verdict).toMatchObject({
      invariants: INVARIANTS.length - left.length,
      violations: [],
      seconds: 5,
      memoryMb: 2,
    })
    expect(JSON.parse(await readFile(copy, 'utf8'))).toEqual(row)
  } finally {
    moments.mockRestore()
    usage.mockRestore()
    await rm(folder, { recursive: true })
  }
})
