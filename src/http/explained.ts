/** The meaning and the remedy of each error code, for the reference and the command that explain it. */
import type { HttpFault } from './faults.ts'

type Explained = { readonly means: string; readonly mend: string }

/** The type demands an explanation of every kind of fault. */
export const EXPLAINED: { readonly [Kind in HttpFault['kind']]: Explained } = {
  not_found: {
    means: 'What the path or the body names does not exist, or belongs to a project that the caller may not see.',
    mend: 'List what there is (`accelerando arq list`, `device list`, `profile list`). The history of a deleted request can still be read: `accelerando arq timeline UUID`.',
  },
  bad_state: {
    means:
      'The object is in a state in which this cannot be done. The answer names the state, and those in which it can.',
    mend: 'Wait until it is in such a state, or look why it is not: `accelerando arq timeline UUID`, `accelerando handle show UUID`. The [states](states.md) show what leads where.',
  },
  conflict: {
    means:
      'The request contradicts itself, the clock or what is recorded; nothing was changed. The answer says what it contradicts.',
    mend: 'Look at the object again, and ask for something that agrees with it.',
  },
  exists: {
    means: 'Another object has this name, UUID or key already.',
    mend: 'Use the one that there is, or choose another name.',
  },
  invalid: {
    means: 'A value of the request breaks a rule; nothing was changed. The answer names the field and the rule.',
    mend: 'Correct the field. What each field may hold is in [the description of the API](../../infra/contracts/openapi.json).',
  },
  forbidden: {
    means: 'The policy does not allow this to the roles of the caller. The answer names the rule.',
    mend: '`accelerando policy show` shows which roles each rule allows. Ask for a role, or have the policy file changed.',
  },
  service_token: {
    means: 'Only a service may do this: binding, unbinding, and deleting what an instance has.',
    mend: 'Send a service token of an account with the role service, as Nova does (`send_service_user_token`). `accelerando arq bind` uses the account that is signed in, or `OS_SERVICE_TOKEN`.',
  },
  unresolved: {
    means: 'Not every accelerator request of the instance is resolved yet, and only resolved ones were asked for.',
    mend: 'Ask again after `Retry-After`. `accelerando instance show UUID` shows which one is missing.',
  },
  unavailable: {
    means:
      'The service cannot do this now: its database, a host or another service does not answer. Nothing was changed, or the outcome is found when the call is repeated.',
    mend: 'Repeat the call after `Retry-After`. If it stays so: `accelerando status`, `accelerando doctor`.',
  },
  crowded: {
    means: 'The caller has as many of these at once as it may have: calls under way, or streams of events.',
    mend: 'Close one, or come back after `Retry-After`. The limits are options ([configuration](../configuration.md)).',
  },
  broken: {
    means: 'The service failed to handle the request: a defect, or a store that refuses a read.',
    mend: 'Look for the request id in the log of the control, and report it with `accelerando support-bundle`.',
  },
  device_failure: {
    means: 'The hardware, or the tool that works on it, failed to do this. The answer has the words of the driver.',
    mend: 'Look at what the driver says. `accelerando device show UUID` shows the health of the card. If it is the card: [replace a card](../operators/replace-a-card.md).',
  },
  no_route: {
    means: 'Nothing is served under this path.',
    mend: 'Check the address: paths begin with `/v2`. A service catalogue whose endpoint has another path causes it, too.',
  },
  no_method: {
    means: 'This cannot be done with the path. The answer and the header `Allow` name what can.',
    mend: 'Use one of those methods.',
  },
  unauthenticated: {
    means: 'No token, or one that is not valid any more.',
    mend: 'Sign in again. A service token without the role service has the same effect.',
  },
  not_acceptable: {
    means: 'The microversion is not known, or too old for the operation.',
    mend: 'Ask for a version between those that `GET /v2` names. Versions after 2.3 need `api.additive_microversion`, or the header `OpenStack-API-Version: accelerator latest, accelerando latest`.',
  },
  media_type: { means: 'The body is something else than JSON.', mend: 'Send `Content-Type: application/json`.' },
  too_large: {
    means: 'The body is larger than what is read.',
    mend: 'Send less at once; the limit is an option ([configuration](../configuration.md)).',
  },
  unreadable: {
    means: 'The request is not HTTP that can be read.',
    mend: 'Look at what stands between the caller and the service: a proxy, or TLS where none is expected.',
  },
  headers_too_large: {
    means: 'The headers are larger than what is read.',
    mend: 'Usually a token with a long catalogue or a cookie of another service: send neither.',
  },
  too_slow: {
    means: 'The request did not arrive whole in time.',
    mend: 'Repeat it. If it happens often, look at the network and at proxies.',
  },
  expectation: { means: 'The header `Expect` asks for something that is not done here.', mend: 'Leave it out.' },
  expected_500: {
    means:
      'A mistake of the caller that existing clients expect to be answered with 500. The code in the answer is that of the mistake.',
    mend: 'See that code. `compat.tempest_server_faults = false` chooses the real status ([configuration](../configuration.md)).',
  },
}
