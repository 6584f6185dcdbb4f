/** How `ansible-playbook` is called on a host, for the set-up of drivers and for the cleaning of devices. Pure. */

/** Ansible ends with an error where the locale is not UTF-8. */
export const ANSIBLE_ENVIRONMENT = {
  LC_ALL: 'C.UTF-8',
  ANSIBLE_NOCOLOR: '1',
  ANSIBLE_FORCE_COLOR: '0',
  ANSIBLE_RETRY_FILES_ENABLED: '0',
  // only this host is used, which Ansible knows without an inventory, and with the Python in which Ansible itself runs
  ANSIBLE_LOCALHOST_WARNING: '0',
  ANSIBLE_INVENTORY_UNPARSED_WARNING: '0',
}

/** `facts` become variables of the playbook. */
export const playOf = (playbook: string, facts: Readonly<Record<string, unknown>>): readonly string[] => [
  '--inventory',
  '/dev/null',
  '--connection',
  'local',
  '--extra-vars',
  JSON.stringify(facts),
  playbook,
]

export const notInstalled = (program: string): string =>
  `${program} is not installed on this host, or not where its PATH leads: install Ansible, or set playbooks.program`
