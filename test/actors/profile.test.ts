import { describe, expect, it } from 'vitest'
import { numbers } from '../../src/actors/inventory/numbers.ts'
import { profile, profileName, type ProfileEvent } from '../../src/actors/profile/decider.ts'
import { specOf } from '../spec.ts'
import { FPGA, id } from './samples.ts'

const facts = { uuid: id(0xb1), name: 'p', description: null, groups: [FPGA] }

describe('a device profile', () => {
  const { given } = specOf(profile)
  const created: ProfileEvent = { type: 'ProfileCreated', profile: facts }
  const removed: ProfileEvent = { type: 'ProfileRemoved', name: 'p' }
  it('is created where its UUID is free', () => {
    given().when({ type: 'Create', profile: facts }).follows(created)
    given(created)
      .when({ type: 'Create', profile: facts })
      .isRefused({ kind: 'exists', field: 'uuid', value: facts.uuid })
  })
  it('is removed once', () => {
    given(created).when({ type: 'Remove' }).follows(removed)
    given().when({ type: 'Remove' }).isRefused({ kind: 'not_found' })
    given(created, removed).when({ type: 'Remove' }).isRefused({ kind: 'not_found' })
  })
  it('that is removed leaves its UUID free', () => {
    given(created, removed).when({ type: 'Create', profile: facts }).follows(created)
  })
})

describe('a profile name', () => {
  const { given } = specOf(profileName)
  const taken = { type: 'NameTaken', holder: facts.uuid } as const
  it('has one holder', () => {
    given().when({ type: 'Take', name: 'p', holder: facts.uuid }).follows(taken)
    given(taken)
      .when({ type: 'Take', name: 'p', holder: id(9) })
      .isRefused({ kind: 'exists', field: 'name', value: 'p' })
  })
  it('is free again when it is given up', () => {
    given(taken).when({ type: 'Free' }).follows({ type: 'NameFreed' })
    given(taken, { type: 'NameFreed' })
      .when({ type: 'Take', name: 'p', holder: id(9) })
      .follows({ type: 'NameTaken', holder: id(9) })
  })
})

describe('the integer ids', () => {
  const { given } = specOf(numbers)
  it('are taken in blocks and never twice', () => {
    given().when({ type: 'Take', count: 3 }).follows({ type: 'NumbersTaken', count: 3 })
    expect(given({ type: 'NumbersTaken', count: 3 }, { type: 'NumbersTaken', count: 2 }).state.last).toBe(5)
  })
  it('none taken is nothing recorded', () => {
    given().when({ type: 'Take', count: 0 }).follows()
  })
})
