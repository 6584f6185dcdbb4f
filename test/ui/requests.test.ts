/** The pages of a request and of an instance: what each waits for and until when, what took longest, how it ended. */
import { describe, expect, it, test } from 'vitest'
import { type Documents, ago, expectOwnKeys, expectSaid, pageOf, uuid } from './drawing.ts'
import { type Facts, type Given, MAY, accepted, arq, overview, timeline, times, told } from './samples.ts'

const AGAIN = 'nova not reached, will be told again'
type Member = readonly [state: string, steps: readonly Given[] | null]
/** An instance with these requests. Null: the timeline of the request cannot be read. */
const instanceOf = (...members: readonly Member[]): Documents => ({
  ...{ '/permissions': MAY, ...overview() },
  '/accelerator_requests': { arqs: members.map(([state], at) => arq(at, state)) },
  ...Object.fromEntries(
    members.flatMap(([, steps], at) =>
      steps === null ? [] : [[`/accelerator_requests/${uuid(at)}/timeline`, timeline(at, steps)]],
    ),
  ),
})
const INSTANCE = `instances/${uuid(50)}`
const bound = (...more: readonly Given[]): Member => ['Bound', [accepted(9000), ['bound', 3500], told(3000), ...more]]

describe('an instance', () => {
  it.each<[string, Documents, readonly string[]]>([
    [
      'of whose requests one cannot be read',
      instanceOf(['Bound', [['created', 9000]]], ['Initial', null]),
      ['|without 1 request whose history is not read here|', '|No bind of it was accepted yet.|', '|There is no such'],
    ],
    [
      'whose bind is under way: who is ready, and when it fails otherwise',
      instanceOf(
        ['BindStarted', [accepted(5000), ['prepared on the host', 2000]]],
        ['BindStarted', [accepted(5000, { order: null })]],
        ['BindStarted', [accepted(5000, { host: '' })]],
      ),
      [
        '|Tell Nova once more: no bind of it has ended.|',
        '|1 of 3 requests prepared; the bind fails if the rest is not, in 1 min.|',
        '|Host|node 1|Accepted|5 s ago|Deadline|2026-03-01 12:01:30 UTC|Ended|under way|Told to Nova|when it has ended|',
        `|${uuid(1)}|BindStarted|waited for|no work on a host|–|–|`,
        `|${uuid(2)}|BindStarted|waited for|on |node 1|–|–|`,
        `|${uuid(0)}|BindStarted|ready|on |host 1|after 3.00 s|–|–|`,
        '|prepares the device|· no work needed on the host|5.00 s so far|',
      ],
    ],
    [
      'whose bind has no deadline',
      instanceOf(['BindStarted', [accepted(5000, { deadline: null, host: null })]]),
      ['|0 of 1 request prepared.|', '|Deadline|–|'],
    ],
    [
      'whose bind failed: why, and for which requests',
      instanceOf(
        ['Bound', [accepted(9000), ['bound', 4000], ['nova not told', 3000]]],
        ['BindFailed', [accepted(9000), ['bind failed', 5000, { reason: '', code: 'host_failed' }], told(4000)]],
        ['BindFailed', [accepted(9000), ['bind failed', 6000]]],
      ),
      [
        '|The bind of 3 requests failed after 5.00 s: host_failed.|',
        '|Ended|4 s ago|Told to Nova|as one batch, 0 answers so far|',
        `|${uuid(1)}|BindFailed|not ready|on |host 1|completed|being told|`,
        '|ready|on |host 1|after 5.00 s|–|no Nova is configured|3 s ago|',
      ],
    ],
    [
      'whose bind fails, in the words of the host',
      instanceOf(
        ['BindStarted', [accepted(9000), ['bind failed', 5000, { reason: 'link down' }]]],
        ['BindFailed', [accepted(9000)]],
      ),
      ['|The bind of 2 requests failed: link down.|', '|prepares the device|· order 7: link down|4.00 s|'],
    ],
    [
      'that is bound: what Nova has answered for each request',
      instanceOf(
        ['Bound', [accepted(9000), ['bound', 4000], told(4000)]],
        ['Bound', [accepted(9000), ['bound', 3000], told(3000), [AGAIN, 2000, { note: 'away', next_at: ago(-1000) }]]],
        bound(['nova told: refused', 1000, { note: '400' }]),
        bound(['nova told: gone', 1000]),
        bound(['nova told: undeliverable', 1000]),
        bound(['nova told: delivered', 1000]),
      ),
      [
        '|All of 6 requests bound after 6.00 s.|',
        '|as one batch, 1 answer so far|Told until|2026-03-01 12:05:00 UTC|',
        '|ready|on |host 1|after 5.00 s|completed|being told|',
        '|completed|not reached|2 s ago|· away|· again |just now|',
        '|completed|refused|just now|· 400|',
        '|completed|no such server|just now|',
        '|completed|was not reached in time|just now|',
        '|completed|taken|just now|',
      ],
    ],
    [
      'that was bound again, without the request that was not part of it',
      instanceOf(
        ['BindFailed', [accepted(9000), ['bind failed', 8000, { code: 'host_failed' }], ['nova told: refused', 7000]]],
        ['BindStarted', [accepted(5000, { hostname: 'node 2' })]],
      ),
      ['|0 of 1 request prepared', '|Host|node 2|', '|Ended|under way|'],
    ],
    [
      'that Nova is told of once more waits for the new answer, and counts no unknown step as one',
      instanceOf([
        'Bound',
        [
          ...bound(['nova told: undeliverable', 2000])[1]!,
          ['nova to be told once more', 1000, { status: 'completed', until: ago(-900_000) }],
          ['constructor', 500],
        ],
      ]),
      ['|Told until|2026-03-01 12:15:00 UTC|', '|completed|being told|'],
    ],
    ['without a request', instanceOf(), ['|No accelerator request belongs to this instance|']],
  ])('%s', async (_, documents, texts) => expectSaid((await pageOf(documents, INSTANCE)).said, texts))
  it.each<[number, string | null]>([
    [16, null],
    [17, '16 of 17 requests are shown'],
  ])('with %d requests says how many of them are shown, where they are not all', async (count, said) => {
    const { html } = await pageOf(instanceOf(...times(count, (): Member => ['Bound', null])), INSTANCE)
    expect(/<p class="rest dim">([^<.]*)/.exec(html)?.[1] ?? null).toBe(said)
  })
})

const PAGE = `arqs/${uuid(1)}`
const requestOf = (one: object | null, steps: readonly Given[], more: Facts = {}): Documents => ({
  '/permissions': MAY,
  ...(one !== null && { [`/accelerator_requests/${uuid(1)}`]: one }),
  [`/accelerator_requests/${uuid(1)}/timeline`]: timeline(1, steps, more),
  '/accelerator_requests': { arqs: [arq(0, 'Bound'), arq(1, 'Bound'), arq(2, 'Bound')] },
})
const BOUND: readonly Given[] = [['created', 90_000], accepted(20_000), ['bound', 8000, { host_work_ms: 500 }]]
const SLOW = requestOf(arq(1, 'Bound'), [
  ...([['created', 90_000], accepted(20_000), ['prepared on the host', 17_000]] as const),
  ...([
    ['bound', 8000],
    ['nova told: delivered', 7000],
  ] as const),
])
const FREE = { instance_uuid: null, hostname: null, attach_handle_uuid: null, attach_handle_info: { bus: '0c' } }
describe('a request', () => {
  it.each<[string, Documents, readonly string[]]>([
    [
      'that is bound: what it has, what took longest, and every step with its event',
      SLOW,
      [
        '|Bound|Unbind by force|Delete|Delete: an instance has it: Nova deletes it with the instance.|',
        `|Profile|profile 1 · group 1|Instance|${uuid(50)}|Host|host 1|Attach handle|${uuid(71)}|`,
        `|Device address|0000:0c:0a.1|Resource provider|${uuid(61)}|Project|project 1|Created|2 h ago|`,
        '|Bound in 12 s; accelerando took longest, 9.00 s.|',
        '|Nova|waits to be bound|drawn short: draw it in full|1 min 10 s|host 1|prepares the device|· order 7|3.00 s|',
        '|accelerando|records the result|9.00 s|accelerando|tells Nova|1.00 s|the instance|in use|',
        'drawn short: 1 min 17 s in which nobody worked.',
        '|11:58:30.000|As of then|created|Event|{ "at": 0 }|11:59:40.000|As of then|+1 min 10 s|bind accepted|host 1|req-1|',
        '|deadline|12:01:30.000|',
        `|Of the same instance: |${uuid(0)}|${uuid(2)}|‹ Previous|Next ›|`,
        `|accelerando arq show ${uuid(1)} --timeline|`,
      ],
    ],
    [
      'that nobody has bound yet',
      requestOf(arq(1, 'Initial', FREE), [['created', 9000]]),
      [
        '|Unbind by force: nothing is bound.|',
        '|Instance|–|Host|–|Attach handle|–|Device address|–|',
        '|Nobody has bound it yet.|',
        '!Of the same instance',
      ],
    ],
    [
      'that waits for its host, until when, and what happens then',
      requestOf(arq(1, 'BindStarted'), [accepted(5000)]),
      [
        '|Waiting for host 1 for 5.00 s: prepares the device, order 7.|',
        '|If host 1 has not answered by |2026-03-01 12:01:30 UTC (in 1 min)|, the bind fails and Nova is told so.|',
      ],
    ],
    [
      'whose deadline has passed',
      requestOf(arq(1, 'BindStarted'), [accepted(95_000, { deadline: ago(0), order: null })]),
      [
        '|Waiting for accelerando for 1 min 35 s: prepares the device, no work needed on the host.|',
        '|Its deadline was |2026-03-01 12:00:00 UTC (just now)|: the bind fails as soon as the service attends to it.|',
      ],
    ],
    [
      'that Nova is told of again, until when, and how an operator has it told once more',
      requestOf(arq(1, 'Bound'), [...BOUND, told(7000), [AGAIN, 6000, { next_at: ago(-2000) }]]),
      [
        '|Waiting for Nova for 6.00 s: not reached, waits for the next attempt.|',
        '|Nova is told again until |2026-03-01 12:05:00 UTC (in 5 min)|. Then delivery ends',
        `|accelerando delivery resend ${uuid(50)} --reason TEXT|`,
        '|· order 7, 500 ms of it on the host, 12 s on the way and waiting|12 s|',
      ],
    ],
    [
      'that was bound at once, and whose server Nova does not know',
      requestOf(arq(1, 'Bound'), [accepted(8000), ['bound', 8000], ['nova told: gone', 8000]]),
      ['|Bound in 0 ms.|', '|Nova|Nova does not know the server|'],
    ],
    [
      'whose bind failed without a reason, with the question which hosts fit',
      requestOf(arq(1, 'BindFailed'), [accepted(5000), ['bind failed', 4000], ['nova not told', 3900]]),
      [
        '|Explain which hosts fit its profile|',
        '|The bind failed after 1.00 s: no reason is recorded.|',
        '|Nova|failed, waits to be deleted|3.90 s so far|',
      ],
    ],
    [
      'that failed and waits for Nova to be told',
      requestOf(arq(1, 'BindFailed'), [accepted(5000), ['bind failed', 4000, { code: 'gone' }]]),
      ['|Waiting for accelerando for 4.00 s: tells Nova.|', '|· order 7: gone|1.00 s|'],
    ],
    [
      'that is deleted: its history stays',
      requestOf(null, [...BOUND, ['unbound', 100], ['deleted', 50]], { deleted: true }),
      ['|Deleted|It is deleted; this is what happened to it.|', '|Nova|is unbound|50 ms|'],
    ],
  ])('%s', async (_, documents, texts) => expectSaid((await pageOf(documents, PAGE)).said, texts))
  it.each<[string, readonly string[]]>([
    ['?open=1', ['|waits to be bound|drawn in full: draw it short|', '|in use|drawn short: draw it in full|']],
    ['?open=5.1', ['|All bars are as long as their time. |Draw long gaps short|']],
    ['?t=table&r=1', ['|Fold the events|', '|Every step|', '!waits to be bound', '!What took how long']],
    ['?t=bars', ['|Unfold the events|', '|What took how long|', '!Every step']],
  ])('with %s draws its times as the address says', async (query, texts) =>
    expectSaid((await pageOf(SLOW, `${PAGE}${query}`)).said, texts),
  )
  it.each<[string, readonly string[]]>([
    [
      ago(8000),
      [
        '|This is the past: the request as it was at |2026-03-01 11:59:52.000 UTC|.|Back to now|',
        '!Unbind by force',
        '|Created|1 h ago|Waiting for accelerando for 0 ms: tells Nova.|',
        ` --timeline --as-of ${ago(8000)}|`,
      ],
    ],
    [ago(-8000), ['!This is the past', '|Unbind by force|', '|Waiting for accelerando for 8.00 s: tells Nova.|']],
    ['noon', ['!This is the past', '|Unbind by force|']],
  ])('as of %s is shown as it was then, if then is a moment of the past', async (moment, texts) => {
    const { said, asked } = await pageOf(requestOf(arq(1, 'Bound'), BOUND), `${PAGE}?as_of=${moment}`)
    expectSaid(said, texts)
    expect(asked).toContainEqual(expect.stringContaining('as_of='))
  })
  test('reads its events with its timeline, in one question', async () => {
    expect((await pageOf(SLOW, PAGE)).asked.toSorted()).toEqual([
      `/accelerator_requests/${uuid(1)}`,
      `/accelerator_requests/${uuid(1)}/timeline?events=true`,
      `/accelerator_requests?instance=${uuid(50)}&limit=50`,
      '/permissions',
    ])
  })
})
test('the entries of these pages have keys of their own', async () => {
  await expectOwnKeys([PAGE], (place) => pageOf(SLOW, place))
  await expectOwnKeys([INSTANCE], (place) => pageOf(instanceOf(bound(), bound(['nova told: gone', 1])), place))
})
