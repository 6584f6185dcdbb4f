/** All that an entry of a `clouds.yaml` can set. */
export const WHOLE_ENTRY = {
  authUrl: 'http://a',
  username: 'u',
  password: 'p',
  userDomain: 'ud',
  project: 'n',
  projectDomain: 'pd',
  userId: 'ui',
  userDomainId: 'udi',
  projectId: 'pi',
  projectDomainId: 'pdi',
  credentialId: 'i',
  credentialName: 'in',
  credentialSecret: 's',
  region: 'r',
  interfaces: ['admin'],
  caFile: 'ca',
}
