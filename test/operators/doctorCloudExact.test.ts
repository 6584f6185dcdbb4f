/** What `doctor` says of made-up facts of Keystone, Nova and the own endpoint, word for word. */
import { expect, test } from 'vitest'
import { type Check, judgeAll } from '../../src/cli/doctor/check.ts'
import { ENDPOINT_CHECKS, type EndpointFacts } from '../../src/cli/doctor/endpoint.ts'
import { KEYSTONE_CHECKS, type KeystoneFacts } from '../../src/cli/doctor/keystone.ts'
import { NOVA_CHECKS, type NovaFacts } from '../../src/cli/doctor/nova.ts'

const said = <Facts>(checks: readonly Check<Facts>[], usual: Facts, cases: readonly Partial<Facts>[]) =>
  cases.map((more) =>
    judgeAll(checks, { ...usual, ...more }).map(
      ({ check, verdict, says, advice }) =>
        `${verdict} ${check}: ${says}${advice === undefined ? '' : ` -> ${advice}`}`,
    ),
  )

const KEYSTONE: KeystoneFacts = {
  url: 'http://k/v3',
  reason: null,
  status: 201,
  roles: ['reader', 'service', 'admin'],
  projectId: 'p',
  skewMs: null,
}
test('of Keystone', () => {
  const cases: readonly Partial<KeystoneFacts>[] = [
    {},
    { skewMs: 2999 },
    { skewMs: -3000 },
    { projectId: null },
    { roles: ['admin'] },
    { roles: ['service'] },
    { roles: [] },
    { reason: 'why', status: 401 },
    { reason: 'why', status: 400 },
    { reason: 'why', status: null },
  ]
  expect(said(KEYSTONE_CHECKS, KEYSTONE, cases)).toMatchInlineSnapshot(`
    [
      [
        "ok keystone: http://k/v3 gives this service a token",
        "ok roles of the account: admin and service",
      ],
      [
        "ok keystone: http://k/v3 gives this service a token",
        "ok roles of the account: admin and service",
        "ok clock of keystone: 3 s ahead of this machine (give or take 1 s)",
      ],
      [
        "ok keystone: http://k/v3 gives this service a token",
        "ok roles of the account: admin and service",
        "warning clock of keystone: 3 s behind this machine (give or take 1 s) -> set both clocks by NTP",
      ],
      [
        "problem keystone: http://k/v3 gives a token, but for no project -> name the project of the service users (keystone_authtoken.project_name), or make the application credential there",
        "ok roles of the account: admin and service",
      ],
      [
        "ok keystone: http://k/v3 gives this service a token",
        "warning roles of the account: it lacks service: a Nova that goes by the new defaults of its policy refuses its events -> give it the role service in the project of keystone_authtoken (openstack role add)",
      ],
      [
        "ok keystone: http://k/v3 gives this service a token",
        "problem roles of the account: it lacks admin: Nova answers its events about servers of other projects with 404, and these servers wait until their time is over -> give it the role admin in the project of keystone_authtoken (openstack role add)",
      ],
      [
        "ok keystone: http://k/v3 gives this service a token",
        "problem roles of the account: it lacks admin and service: Nova answers its events about servers of other projects with 404, and these servers wait until their time is over; a Nova that goes by the new defaults of its policy refuses its events -> give it the role admin and the role service in the project of keystone_authtoken (openstack role add)",
      ],
      [
        "problem keystone: http://k/v3: why: it refuses the credentials -> correct user, password and project (or the application credential) in keystone_authtoken. The other services of the cloud were not asked",
      ],
      [
        "problem keystone: http://k/v3: why -> check that keystone_authtoken.auth_url is the address of the Identity API v3, and the log of Keystone",
      ],
      [
        "problem keystone: http://k/v3: why -> check that Keystone runs there, and that keystone_authtoken.auth_url and cafile are correct",
      ],
    ]
  `)
})

const NOVA: NovaFacts = {
  url: null,
  answers: { is: 'known', highest: '2.82' },
  event: { outcome: 'gone', code: 404 },
  blind: null,
}
test('of Nova', () => {
  const url = 'http://n/v2.1'
  const cases: readonly Partial<NovaFacts>[] = [
    {},
    { url, event: { outcome: 'delivered', code: 200 } },
    { event: { outcome: 'refused', code: 403, note: 'not you' } },
    { event: { outcome: 'retry', code: 500 } },
    { blind: 'it needs the role admin' },
    ...[
      { is: 'known', highest: '2.81' } as const,
      { is: 'absent' } as const,
      { is: 'silent', reason: 'why' } as const,
      { is: 'failing', status: 503 } as const,
      { is: 'strange', status: 404, said: '' } as const,
      { is: 'strange', status: 401, said: 'who are you' } as const,
    ].flatMap((answers) => [
      { answers, event: null },
      { answers, event: null, url },
    ]),
  ]
  expect(said(NOVA_CHECKS, NOVA, cases)).toMatchInlineSnapshot(`
    [
      [
        "ok nova: the compute service of the catalogue answers, in versions up to 2.82",
        "ok events to nova: Nova takes them, about the servers of all projects",
      ],
      [
        "ok nova: http://n/v2.1 answers, in versions up to 2.82",
        "ok events to nova: Nova takes them, about the servers of all projects",
      ],
      [
        "ok nova: the compute service of the catalogue answers, in versions up to 2.82",
        "problem events to nova: Nova does not take them: not you -> give the account of this service the roles admin and service in the project of the service users",
      ],
      [
        "ok nova: the compute service of the catalogue answers, in versions up to 2.82",
        "problem events to nova: Nova does not take them: it answers 500 -> give the account of this service the roles admin and service in the project of the service users",
      ],
      [
        "ok nova: the compute service of the catalogue answers, in versions up to 2.82",
        "problem events to nova: Nova does not show this service the servers of all projects (it needs the role admin): it answers events about them with 404, and they wait until their time is over -> give the account of this service the roles admin and service in the project of the service users",
      ],
      [
        "problem nova: the compute service of the catalogue offers microversions up to 2.81; 2.82 is needed for the events of this service -> upgrade Nova: the release Ussuri is the first that takes them",
      ],
      [
        "problem nova: http://n/v2.1 offers microversions up to 2.81; 2.82 is needed for the events of this service -> upgrade Nova: the release Ussuri is the first that takes them",
      ],
      [
        "warning nova: the catalogue has no compute service where this service looks: nobody is told when binds end, and no server can be asked for -> nothing, if there is no Nova; otherwise check keystone_authtoken.interfaces and region_name, or set nova.url",
      ],
      [
        "warning nova: the catalogue has no compute service where this service looks: nobody is told when binds end, and no server can be asked for -> nothing, if there is no Nova; otherwise check keystone_authtoken.interfaces and region_name, or set nova.url",
      ],
      [
        "problem nova: the compute service of the catalogue does not answer: why -> start it or correct its endpoint in the catalogue: Nova is not notified when binds end",
      ],
      [
        "problem nova: http://n/v2.1 does not answer: why -> start it or correct nova.url: Nova is not notified when binds end",
      ],
      [
        "warning nova: the compute service of the catalogue answered 503 -> events are sent again until Nova accepts them, for at most nova.tell_for_seconds",
      ],
      [
        "warning nova: http://n/v2.1 answered 503 -> events are sent again until Nova accepts them, for at most nova.tell_for_seconds",
      ],
      [
        "problem nova: the compute service of the catalogue answered 404, without the versions of the Compute API -> correct its endpoint in the catalogue: it ends in the version of the API, /v2.1",
      ],
      [
        "problem nova: http://n/v2.1 answered 404, without the versions of the Compute API -> correct nova.url: it ends in the version of the API, /v2.1",
      ],
      [
        "problem nova: the compute service of the catalogue answered 401, without the versions of the Compute API: who are you -> check the token: nova.token_file, or the account in keystone_authtoken",
      ],
      [
        "problem nova: http://n/v2.1 answered 401, without the versions of the Compute API: who are you -> check the token: nova.token_file, or the account in keystone_authtoken",
      ],
    ]
  `)
})

const ENDPOINT: EndpointFacts = { url: 'http://a/v2', reason: null, status: 200, isApi: true }
test('of the own endpoint', () => {
  const cases: readonly Partial<EndpointFacts>[] = [
    {},
    { isApi: false },
    { status: 500, isApi: false },
    { status: null, reason: 'why', isApi: false },
    { url: null, status: null, isApi: false },
    { url: null, status: null, isApi: false, reason: 'why' },
  ]
  expect(said(ENDPOINT_CHECKS, ENDPOINT, cases)).toMatchInlineSnapshot(`
    [
      [
        "ok own endpoint: http://a/v2 in the catalogue answers",
      ],
      [
        "warning own endpoint: http://a/v2 in the catalogue answered 200, not as this service does -> correct the endpoint (openstack endpoint set --url): it ends in /v2",
      ],
      [
        "warning own endpoint: http://a/v2 in the catalogue answered 500, not as this service does -> correct the endpoint (openstack endpoint set --url): it ends in /v2",
      ],
      [
        "warning own endpoint: http://a/v2 in the catalogue does not answer: why -> start a control, or correct the endpoint (openstack endpoint set --url): until then Nova and the command line find no accelerators",
      ],
      [
        "warning own endpoint: the catalogue has no service of the type accelerator where this service looks: Nova and the command line find no accelerators -> register it: openstack service create --name cyborg accelerator, and an endpoint that ends in /v2 for each interface",
      ],
      [
        "problem own endpoint: the catalogue could not be read: why -> see what is said of keystone",
      ],
    ]
  `)
})
