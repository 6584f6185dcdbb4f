import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import * as checks from './checks.ts'
import { mapped } from './map.ts'
import { BUDGET } from './rules.ts'
import { readFolder } from './source.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folders = ['src', 'test', 'bench', 'infra', 'bin', '.ci'].filter((folder) => existsSync(join(root, folder)))
const sources = folders.flatMap((folder) => readFolder(root, folder))

describe('the rules of the house', () => {
  test('the files were seen', () => {
    expect(sources.filter(({ path }) => path.startsWith('src/')).length).toBeGreaterThan(0)
    expect(sources.flatMap(({ imports }) => imports).length).toBeGreaterThan(0)
    expect(checks.resolved(sources)).toEqual([])
  })
  test('a room imports only what the table lets it', () => expect(checks.rooms(sources)).toEqual([]))
  test('no room imports itself by way of another', () => expect(checks.roomCycles(sources)).toEqual([]))
  test('among the files and folders of one folder imports run one way', () =>
    expect(checks.folderCycles(sources)).toEqual([]))
  test('every rule is about something that is there', () => expect(checks.ruled(sources)).toEqual([]))
  test('no file imports itself by way of others', () => expect(checks.fileCycles(sources)).toEqual([]))
  test('tests enter rooms by their doors', () => expect(checks.testDoors(sources)).toEqual([]))
  test('each library stays in its home', () => expect(checks.homes(sources)).toEqual([]))
  test('files, programs and the environment have one door', () => expect(checks.doors(sources)).toEqual([]))
  test('pure files are pure', () => expect(checks.purity(sources)).toEqual([]))
  test('only the shell calls a decider', () => expect(checks.deciders(sources)).toEqual([]))
  test('no file is too long', () => expect(checks.fileLength(sources)).toEqual([]))
  test('no comment is too wide', () => expect(checks.commentWidth(sources)).toEqual([]))
  test('most files are short', () => expect(checks.medianLength(sources)).toBeLessThan(BUDGET.medianFileLines))
  test('no function is too long or too deep', () => expect(checks.functionShape(sources)).toEqual([]))
  test('no import climbs too far', () => expect(checks.upwards(sources)).toEqual([]))
  test('every file is imported by another', () => expect(checks.orphans(sources)).toEqual([]))
  test('no note to self is left', () => expect(checks.leftovers(sources)).toEqual([]))
  test('the host program loads no database and no web server', () => expect(checks.lean(sources)).toEqual([]))
  test('no test patches a module', () => expect(checks.mocks(sources)).toEqual([]))
})

test('ARCHITECTURE.md names each room, what it may import, and the folders of actors and services, on one screen', () =>
  expect(mapped(sources, readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'))).toEqual([]))
