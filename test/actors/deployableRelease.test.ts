import { describe, expect, it } from 'vitest'
import type { DeployableEvent } from '../../src/actors/deployable/messages.ts'
import {
  answer,
  done,
  failed,
  given,
  grant,
  granted,
  IMAGE,
  program,
  quiet,
  refusedBecause,
  release,
  released,
  stuck,
} from './deployableFacts.ts'
import { ARQ, handle, OTHER, recorded } from './samples.ts'

describe('a release', () => {
  it('frees the handle at once where the host has nothing to do', () => {
    given(quiet, granted(1, null)).when(release()).follows(released(1, null))
    expect(given(quiet, granted(1, null), released(1, null)).state.handles[handle(1).uuid]).toMatchObject({
      state: 'free',
      arq: null,
    })
  })
  it('keeps the handle until the host has released it', () => {
    given(recorded(), granted(1, 1), done(1, 1)).when(release()).follows(released(1, 2))
    const releasing = [recorded(), granted(1, 1), done(1, 1), released(1, 2)]
    expect(given(...releasing).state.handles[handle(1).uuid]).toMatchObject({ state: 'releasing', arq: null })
    expect(given(...releasing, done(1, 2)).state.handles[handle(1).uuid]).toMatchObject({ state: 'free' })
  })
  it('undoes a preparation that may be under way', () => {
    given(quiet, granted(1, 1)).when(release()).follows(released(1, 2))
  })
  it('undoes a preparation that only loaded an image, and only once', () => {
    const loaded = [quiet, granted(1, 1, ARQ, IMAGE), done(1, 1)]
    given(...loaded)
      .when(release())
      .follows(released(1, 2))
    given(...loaded, released(1, 2), done(1, 2), granted(1, null))
      .when(release())
      .follows(released(1, null))
  })
  it('that has failed keeps the deployable from being programmed until an operator has declared the handle clean', () => {
    const why = refusedBecause(
      'its host may still have a quarantined handle of it prepared, so it cannot be programmed now',
    )
    given(...stuck)
      .when(grant(OTHER, IMAGE))
      .isRefused(why)
    given(...stuck)
      .when(program)
      .isRefused(why)
    given(...stuck)
      .when(grant(OTHER))
      .follows(granted(2, 3, OTHER))
    const clean: DeployableEvent = { type: 'HandleCleared', handle: handle(1).uuid, by: 'op', reason: 'r' }
    given(...stuck, clean)
      .when(grant(OTHER, IMAGE))
      .follows(granted(1, 3, OTHER, IMAGE))
  })
  it('of what the request does not hold changes nothing', () => {
    given(recorded()).when(release()).follows()
    given(recorded(), granted(1, 1)).when(release(OTHER)).follows()
  })
  it('that fails is ordered again, three times in all', () => {
    const first = [recorded(), granted(1, 1), done(1, 1), released(1, 2)]
    given(...first)
      .when(answer(1, 2, 'stuck'))
      .follows(failed(1, 2, 3))
    given(...first, failed(1, 2, 3))
      .when(answer(1, 3, 'stuck'))
      .follows(failed(1, 3, 4))
    given(...first, failed(1, 2, 3), failed(1, 3, 4))
      .when(answer(1, 4, 'stuck'))
      .follows(failed(1, 4, null))
  })
  it('that cannot succeed is not ordered again: the handle is quarantined', () => {
    given(recorded(), granted(1, 1), done(1, 1), released(1, 2))
      .when(answer(1, 2, 'stuck', true))
      .follows(failed(1, 2, null))
    expect(given(...stuck).state.handles[handle(1).uuid]).toMatchObject({ state: 'quarantined', lastArq: ARQ })
  })
  it('of a quarantined handle is ordered anew when its request asks again', () => {
    given(...stuck)
      .when(release())
      .follows(released(1, 3))
    expect(given(...stuck, released(1, 3)).state.handles[handle(1).uuid]).toMatchObject({
      state: 'releasing',
      attempts: 0,
    })
  })
  it('of a quarantined handle needs the host, even where a release needs none otherwise', () => {
    const facts = [quiet, granted(1, 1, ARQ, IMAGE), released(1, 2), failed(1, 2, null)]
    given(...facts)
      .when(release())
      .follows(released(1, 3))
  })
  it('gives up the handle that is held before one whose release failed', () => {
    given(...stuck, granted(2, 3), done(2, 3))
      .when(release())
      .follows(released(2, 4))
  })
  it('of a preparation that loads an image leaves the region unknown (S14)', () => {
    const facts = [
      recorded(),
      granted(1, 1, OTHER, 'old'),
      done(1, 1),
      released(1, 2, OTHER),
      done(1, 2),
      granted(1, 3, ARQ, IMAGE),
    ]
    expect(given(...facts).state.bitstreamId).toBe('old')
    expect(given(...facts, released(1, 4)).state.bitstreamId).toBe(null)
  })
})
