/** How errors of kafkajs are classified: the cause may be anywhere in the chain. */
import { describe, expect, it } from 'vitest'
import {
  MissingTopic,
  Misconfigured,
  Unanswered,
  isMisconfigured,
  isMissing,
  isMissingTopic,
  isOfClient,
  isRefused,
  isUnpublishable,
  missingTopic,
  reasonOf,
} from '../../src/bus/kafka/errors.ts'

const of = (more: object, message = 'said') => Object.assign(new Error(message), more)
/** As kafkajs does it: the last error says least. */
const wrapped = (inner: Error, times = 1): Error =>
  times === 0 ? inner : new Error('gave up', { cause: wrapped(inner, times - 1) })

const refused = of({ name: 'KafkaJSSASLAuthenticationError' })
const mechanism = of({ type: 'UNSUPPORTED_SASL_MECHANISM' })
const noTopic = of({ type: 'UNKNOWN_TOPIC_OR_PARTITION' })
const other = of({ name: 'KafkaJSProtocolError', type: 'REQUEST_TIMED_OUT' })

describe('an error of Kafka', () => {
  it.each([
    ['isRefused', isRefused, [refused, mechanism]],
    ['isMissingTopic', isMissingTopic, [noTopic]],
    [
      'isUnpublishable',
      isUnpublishable,
      [
        'MESSAGE_TOO_LARGE',
        'RECORD_LIST_TOO_LARGE',
        'INVALID_TIMESTAMP',
        'UNSUPPORTED_FOR_MESSAGE_FORMAT',
        'POLICY_VIOLATION',
        'INVALID_RECORD',
      ].map((type) => of({ type })),
    ],
  ] as const)('%s: as it is, or wrapped', (_, holds, errors) => {
    for (const error of errors) {
      for (const times of [0, 1, 3, 7]) expect(holds(wrapped(error, times))).toBe(true)
      // a chain that goes in a circle, or on and on, is not followed for ever
      expect(holds(wrapped(error, 8))).toBe(false)
    }
    const rest = [refused, mechanism, noTopic, of({ type: 'MESSAGE_TOO_LARGE' }), other].filter(
      (error) =>
        !errors.some(
          (one) => Object.is(one, error) || (one as { type?: string }).type === (error as { type?: string }).type,
        ),
    )
    for (const error of [...rest, null, undefined, 'text', 7]) expect(holds(error)).toBe(false)
  })
  it('is a matter of the settings when it says so, or when the user is refused', () => {
    const settings = [new Misconfigured('m'), new MissingTopic('t'), refused, wrapped(mechanism)]
    expect(settings.map(isMisconfigured)).toEqual([true, true, true, true])
    expect([noTopic, other, new Error('e'), new Unanswered('u')].map(isMisconfigured)).toEqual([
      false,
      false,
      false,
      false,
    ])
  })
  it('comes from the client by its name, or by the one sentence that has no name of its own', () => {
    expect([other, refused, new Error('Broker not connected'), new Unanswered('u')].map(isOfClient)).toEqual([
      true,
      true,
      true,
      true,
    ])
    const ours = [
      new Error('broker'),
      of({ name: 'NotKafkaJS' }),
      { name: 'KafkaJSError' },
      { message: 'Broker not connected' },
    ]
    expect(ours.map(isOfClient)).toEqual([false, false, false, false])
  })
  it('is told by the innermost error', () => {
    expect(reasonOf(wrapped(of({}, 'the cause'), 2))).toBe('the cause')
    expect(reasonOf(of({ cause: { type: 'no error' } }, 'outer'))).toBe('outer')
    expect(reasonOf('text')).toBe('text')
  })
  it('about a topic that is not there names topic, brokers and remedy', () => {
    const error = missingTopic('t1', ['a:1', 'b:2'])
    expect([isMissing(error), isMissing(new Misconfigured('m'))]).toEqual([true, false])
    expect(error.message).toBe('there is no topic t1 on Kafka at a:1, b:2: accelerando topic create makes it')
  })
})
