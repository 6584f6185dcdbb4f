/** The small parts on which drivers are built: texts of files and programs within limits, and work in turn. */
import { describe, expect, test } from 'vitest'
import { PassThrough } from 'node:stream'
import * as v from 'valibot'
import {
  atMost,
  jsonObject,
  listIfThere,
  listed,
  oneAtATime,
  readByRules,
  readIfThere,
} from '../../src/drivers/files.ts'
import { belonging, parentIn } from '../../src/drivers/processTree.ts'
import { readAll } from '../../src/drivers/readAll.ts'
import { gathered, tailOf } from '../../src/drivers/runToEnd.ts'
import { quiet } from '../support/lab.ts'

describe('the end of a long output', () => {
  const ended = (keepBytes: number, ...chunks: readonly string[]) => {
    const tail = tailOf(keepBytes)
    for (const chunk of chunks) tail.add(Buffer.from(chunk))
    return tail.end()
  }
  test('is kept, with how much is missing before it', () => {
    expect(ended(4)).toEqual({ output: '', cut: 0 })
    expect(ended(4, 'ab', 'cd')).toEqual({ output: 'abcd', cut: 0 })
    expect(ended(4, 'ab', 'cde')).toEqual({ output: 'bcde', cut: 1 })
    // it is shortened on the way as well
    expect(ended(4, 'abcdefgh', 'i', 'jk', 'lmnopqrst')).toEqual({ output: 'qrst', cut: 16 })
  })
  test('does not begin with half a character, unless nothing is missing', () => {
    expect(ended(4, 'aé✓')).toEqual({ output: '✓', cut: 2 })
    const broken = Buffer.from('✓').subarray(1)
    const tail = tailOf(9)
    tail.add(broken)
    expect(tail.end()).toEqual({ output: '\uFFFD\uFFFD', cut: 0 })
  })
})

test('what a stream brings is whole up to its limit, and beyond it somebody is told', async () => {
  const all = async (...chunks: readonly string[]) => {
    const stream = new PassThrough()
    let tooMuch = 0
    const text = gathered(stream, 4, () => void tooMuch++)
    for (const chunk of chunks) stream.write(chunk)
    await quiet()
    return [text(), tooMuch]
  }
  expect(await all('é', 'ab')).toEqual(['éab', 0])
  expect(await all('é', 'abc')).toEqual(['é', 1])
})

describe('an open file', () => {
  const file = (...portions: readonly string[]) => {
    const left = [...portions]
    const asked: number[] = []
    const read = async (into: Buffer) => {
      asked.push(into.length)
      return { bytesRead: into.write(left.shift() ?? '') }
    }
    return { asked, open: { read } }
  }
  test('is read in portions to its end, within the limit', async () => {
    const { open, asked } = file('one', 'zwölf')
    expect(await readAll(open, '/f', 9)).toBe('onezwölf')
    expect(asked).toEqual([4096, 4093, 4087])
    const long = file('x'.repeat(4096), 'yy')
    expect(await readAll(long.open, '/f', 4098)).toHaveLength(4098)
    expect(long.asked).toEqual([4096, 65_536, 65_534])
    await expect(readAll(file('one', 'zwölf').open, '/f', 8)).rejects.toThrow('/f: must not be longer than 8 bytes')
  })
})

describe('the processes of a program', () => {
  const process = (pid: number, parent: number, environment = '') => ({ pid, parent, environment })
  test('are its children, theirs, and what has inherited its mark', () => {
    const all = [
      process(30, 20),
      process(10, 1),
      process(20, 10),
      process(40, 1, 'A=1\0RUN=x\0'),
      process(41, 40),
      process(50, 1, 'RUN=x\0B=2\0'),
      process(51, 1, 'XRUN=x\0'),
      process(52, 1, 'RUN=xy\0'),
      process(53, 1, 'RUN=x'),
      process(60, 2),
    ]
    expect(belonging(all, 10, 'RUN=x').toSorted((a, b) => a - b)).toEqual([10, 20, 30, 40, 41, 50])
    expect(belonging(all, 99, 'none')).toEqual([])
  })
  test('have a parent unless they have ended', () => {
    const states = ['S', 'R', 'Z', 'X', 'D'].map((state) => parentIn(`7 (a) b) ${state} 42 1 2`))
    expect(states).toEqual([42, 42, null, null, 42])
    expect(['', '7 (a) S', '7 (a) S x 1', '7 (a) S 4x 1'].map(parentIn)).toEqual([null, null, null, null])
  })
})

describe('files that may not be there', () => {
  const failing = (code: string) => {
    const refuse = () => Promise.reject(Object.assign(new Error(code), { code }))
    return { read: refuse, list: refuse }
  }
  test('are none, and any other error is one', async () => {
    expect([await readIfThere(failing('ENOENT'), '/f'), await listIfThere(failing('ENOENT'), '/f')]).toEqual([
      null,
      null,
    ])
    expect([await listIfThere(failing('ENOTDIR'), '/f'), await listed(failing('ENOENT'), '/f')]).toEqual([null, []])
    await expect(readIfThere(failing('ENOTDIR'), '/f')).rejects.toThrow('ENOTDIR')
    await expect(listIfThere(failing('EACCES'), '/f')).rejects.toThrow('EACCES')
    expect(await readIfThere({ read: async () => '' }, '/f')).toBe('')
  })
  test('hold what their rules say, or the error names the file, the field and the rule', () => {
    const Rules = v.object({ a: v.object({ b: v.number('must be a number') }), c: v.string('must be text') })
    expect(readByRules(Rules, '{"a":{"b":1},"c":"x","d":2}', '/f')).toEqual({ a: { b: 1 }, c: 'x' })
    expect(() => readByRules(Rules, '{"a":{"b":"1"},"c":1}', '/f')).toThrow('/f: a.b: must be a number')
    for (const text of ['', '{', '[]', 'null', '7'])
      expect(() => jsonObject(text, '/f')).toThrow('/f: must hold a JSON object')
    expect(jsonObject('{"a":1}', '/f')).toEqual({ a: 1 })
  })
})

describe('work in turn', () => {
  const works = (count: number) => {
    const begun: number[] = []
    const gates = Array.from({ length: count }, () => Promise.withResolvers<number>())
    const work = (n: number) => () => {
      begun.push(n)
      return gates[n]!.promise
    }
    return { begun, gates, work }
  }
  test('is done one after the other, also after a failure', async () => {
    const { begun, gates, work } = works(3)
    const inTurn = oneAtATime()
    const all = [0, 1, 2].map((n) => inTurn(work(n)).catch((error: unknown) => (error as Error).message))
    await quiet()
    expect(begun).toEqual([0])
    gates[0]!.reject(new Error('no'))
    await quiet()
    expect(begun).toEqual([0, 1])
    gates[1]!.resolve(1)
    gates[2]!.resolve(2)
    expect(await Promise.all(all)).toEqual(['no', 1, 2])
  })
  test('is done by at most so many at a time, in the order in which it came', async () => {
    const { begun, gates, work } = works(5)
    const limited = atMost(2)
    const all = [0, 1, 2, 3].map((n) => limited(work(n)).catch((error: unknown) => (error as Error).message))
    await quiet()
    expect(begun).toEqual([0, 1])
    gates[1]!.reject(new Error('no'))
    await quiet()
    expect(begun).toEqual([0, 1, 2])
    for (const n of [0, 2, 3]) gates[n]!.resolve(n)
    expect(await Promise.all(all)).toEqual([0, 'no', 2, 3])
    // afterwards there is room for two again
    const [first, second] = [limited(work(4)), limited(work(4))]
    await quiet()
    expect(begun.slice(4)).toEqual([4, 4])
    gates[4]!.resolve(4)
    expect(await Promise.all([first, second])).toEqual([4, 4])
  })
})
