import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import * as references from './references.ts'

const tree = references.readTree(fileURLToPath(new URL('../..', import.meta.url)))

describe('references', () => {
  test('to sections of the contract name sections that exist', () => expect(references.sections(tree)).toEqual([]))
  test('by letter and number name rules of the contract', () => expect(references.letters(tree)).toEqual([]))
  test('within the contract name its rules', () => expect(references.lettersOfPages(tree)).toEqual([]))
  test('to rules of one file name a rule that exactly one file defines', () =>
    expect(references.localRules(tree)).toEqual([]))
  test('from one page to another lead somewhere', () => expect(references.links(tree)).toEqual([]))
  test('to decisions name decisions that are there', () => expect(references.decisions(tree)).toEqual([]))
  test('to files of the tree name files that are there', () => expect(references.files(tree)).toEqual([]))
})
