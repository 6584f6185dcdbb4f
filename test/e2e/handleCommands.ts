/** `accelerando handle` against a running service, as an operator uses it when a card is suspect. */
import { expect } from 'vitest'
import { type Exit, type Service, runProgram } from '../support/program.ts'

export const handlesOf = (service: Service) => {
  const run = async (...args: readonly string[]): Promise<{ said: string; complained: string; code: Exit['code'] }> => {
    const program = runProgram({ args: ['handles', ...args, '--api', service.base] })
    const { code } = await program.exited
    return { said: program.stdout(), complained: program.stderr(), code }
  }
  /** Standard output of a command that has to succeed. */
  const said = async (...args: readonly string[]): Promise<string> => {
    const ended = await run(...args)
    expect(ended, args.join(' ')).toMatchObject({ code: 0, complained: '' })
    return ended.said
  }
  return { run, said }
}

/** Lists, shows, quarantines and releases one free handle of the host. */
export const expectCareOfHandle = async (service: Service, host: string): Promise<void> => {
  const { said } = handlesOf(service)
  const { handles } = JSON.parse(await said('list', '--state', 'free', '--host', host, '--json'))
  const { uuid } = handles[0]
  const quarantined = new RegExp(`^${uuid}\\tquarantined\\t${host}\\t`, 'm')
  expect(await said('show', uuid)).toMatch(/^state\tfree$/m)
  expect(await said('quarantine', uuid, '--reason', 'smells of smoke', '--as', 'kim')).toMatch(/^state\tquarantined$/m)
  expect(await said('list', '--state', 'quarantined')).toMatch(quarantined)
  expect(await said('show', uuid)).toMatch(/^quarantined\t.*kim.*smells of smoke/m)
  expect(await said('release', uuid, '--reason', 'it was the toaster')).toMatch(/^state\tfree$/m)
  expect(await said('list', '--state', 'quarantined')).not.toMatch(quarantined)
}
