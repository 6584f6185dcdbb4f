import { describe, expect, test } from 'vitest'
import { expectAllRun, expectWell } from './ran.ts'

const WELL = ['ok a', 'ran client.a', 'ran client.b', 'offered client.b', 'offered client.a', '', 'exit 0']
const without = (line: string): string => WELL.filter((each) => each !== line).join('\n')

describe('what a script has run of a client', () => {
  test('is all that the client offers, in any order', () => expectAllRun(WELL.join('\n'), 2))
  test.each([
    ['something was forgotten', without('ran client.b'), 2],
    ['something was run that the client does not have', without('offered client.b'), 1],
    ['the client offers less than is known of it', WELL.join('\n'), 3],
    ['a row failed', `failed a: why\n${WELL.join('\n')}`, 2],
    ['the script ended badly', without('exit 0'), 2],
  ])('is not well when %s', (_, printed, least) => expect(() => expectAllRun(printed, least)).toThrow('expected'))
  test('need not be all of it where a script walks some sequences only', () => expectWell(without('ran client.b')))
})
