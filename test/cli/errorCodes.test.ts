/** What an operator is led to who has only the installed program: the explanation of an error code. */
import { describe, expect, test } from 'vitest'
import { commandHere } from '../support/commandHere.ts'
import { ERROR_CODES } from '../../src/cli/operators/errorCodes.ts'
import { refusal } from '../../src/cli/operators/api.ts'

describe('the command that a refusal names', () => {
  test.each(ERROR_CODES.map(({ code }) => code))('explains %s, without a service', async (code) => {
    const text = JSON.stringify({ errors: [{ detail: 'no', code: `accelerator.${code}` }] })
    const { about = '' } = refusal({ what: 'GET /x', base: 'http://api', status: 409, text })
    const [program, ...words] = about.split(' ')
    expect(program).toBe('accelerando')
    const { code: exit, out } = await commandHere(words, {})
    expect(exit).toBe(0)
    expect(out).toMatch(/^what to do\s+\S/m)
    // a link would lead to a page that is not part of the package
    expect(out).not.toMatch(/\]\(|\.md/)
  })
})
test('without a code all are listed, with one that is unknown the list is named', async () => {
  const { out } = await commandHere(['error', '-f', 'value', '-c', 'code'], {})
  expect(out.trim().split('\n')).toEqual(ERROR_CODES.map(({ code }) => code))
  const { code, err } = await commandHere(['error', 'nope'], {})
  expect([code, err]).toEqual([3, 'this release knows no error code nope\nnext: accelerando error\n'])
  const { out: long } = await commandHere(['error', 'accelerator.conflict', '-f', 'json'], {})
  expect(JSON.parse(long)).toMatchObject({ code: 'conflict', status: 409, exit_code: 5 })
})
