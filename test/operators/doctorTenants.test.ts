/** What `doctor` says of the number of requests that a project may create. */
import { expect, test } from 'vitest'
import { judgeAll } from '../../src/cli/doctor/check.ts'
import { TENANT_CHECKS } from '../../src/cli/doctor/tenants.ts'

const said = (arqsPerProject: number, unboundTtlMs: number) => judgeAll(TENANT_CHECKS, { arqsPerProject, unboundTtlMs })
const check = 'requests of a project'

test('without a quota it warns, and names what ends requests', () => {
  const says = 'any user may create accelerator requests without end'
  const quota = 'set quota.arqs_per_project, to the same value for every control, such as 1000'
  const advice = `${quota}, and arq.unbound_ttl, such as 86400`
  expect(said(0, 0)).toEqual([{ check, verdict: 'warning', says, advice }])
  expect(said(0, 1000)).toEqual([{ check, verdict: 'warning', says, advice: quota }])
})
test('with a quota it says what stays', () => {
  const [all, some] = [said(1000, 0), said(1, 86_400_000)]
  expect(all).toEqual([{ check, verdict: 'ok', says: '1000 requests at most; unbound ones stay (arq.unbound_ttl)' }])
  expect(some).toEqual([{ check, verdict: 'ok', says: '1 request at most; unbound ones stay for 24 h' }])
})
