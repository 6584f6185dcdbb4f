/** The options of the drivers: which hardware of this machine they offer, and how. */
import { FPGACONF, MEASURING, XRT_FOLDER } from '../../drivers/programs.ts'
import * as k from './kinds.ts'
import { optional, row } from './row.ts'

export const HARDWARE = {
  'pci.passthrough_whitelist': optional('pci.whitelist', k.whitelist, {
    about: 'Which PCI functions pci_driver may offer: tables with vendor_id, product_id, address, devname or mode.',
    example: [{ vendor_id: '1af4', product_id: '1041' }],
  }),
  'playbooks.dir': optional('playbooks.dir', k.folder, {
    about:
      'Holds a folder for each driver that wants one, with setup.yml, which is run with Ansible before the driver is asked for its devices, and ' +
      'teardown.yml, which is run when the driver is no longer enabled. Without it, no playbook is run.',
    example: '/etc/accelerando/playbooks',
  }),
  'playbooks.program': row('playbooks.program', k.word, 'ansible-playbook', {
    about: 'The program that runs playbooks, also those of cleaning: a name in PATH, or a path.',
  }),
  'playbooks.limit_seconds': row('playbooks.limitMs', k.seconds(1, 86_400), 900, {
    about: 'A playbook that has not ended by then is killed with its children, and counts as failed.',
  }),
  'pci.sysfs_root': row('pci.sysfsRoot', k.folder, '/sys', { about: 'Where sysfs is mounted.' }),
  'pci.sriov_numvfs': row(
    'pci.virtualFunctions',
    k.functionCounts,
    {},
    {
      about:
        'By the address of a physical function, how many virtual ones the host makes before it looks for devices. Only where there are none: another number ' +
        'is never changed.',
      example: { '0000:3d:00.0': 16 },
    },
  ),
  'pci.check': row('pci.check', k.toggle, false, {
    about: 'Taken, and without effect: every bind of hardware is looked at once more on its host.',
  }),
  'fake.devices': row('fake.devices', k.count(1, 244), 1, { about: 'Devices that fake_driver reports.' }),
  'fake.handles': row('fake.handles', k.count(1, 255), 16, { about: 'Attach handles of each of them.' }),
  'fake.host_work': row('fake.hostWork', k.toggle, false, { about: 'Binding one of them needs work on the host.' }),
  'cards.id_table': optional('cards.table', k.file, {
    about:
      'Cards beside those that the drivers know by their PCI ids, in JSON or YAML: a list with vendor, device, type and name, and if wanted class, family, rc, ' +
      'traits, vf_of and driver (id_table_driver unless it says another one).',
    example: '/etc/accelerando/cards.yaml',
  }),
  'cleaning.policies': optional('cleaning.file', k.file, {
    about:
      'How devices of this machine are cleaned between two requests, in JSON or YAML: a list with driver, policy (none, command, playbook or ' +
      'quarantine), command (a program by its absolute path, and its arguments) or playbook (the absolute path of one of Ansible), and timeout_seconds.',
    example: '/etc/accelerando/cleaning.yaml',
  }),
  'gpu_devices.enabled_vgpu_types': row('gpu.types', k.names, [], {
    about:
      'Types of vGPU that nvidia_gpu_driver makes, such as nvidia-223. Each needs its functions in gpu_devices.device_addresses.',
  }),
  'gpu_devices.device_addresses': row(
    'gpu.addresses',
    k.namedLists,
    {},
    {
      about:
        'For each type, the PCI addresses of the functions that are divided into vGPUs of it. Other systems have a section [vgpu_TYPE] with device_addresses ' +
        'for each type.',
      example: { 'nvidia-223': ['0000:af:00.0'] },
    },
  ),
  'gpu_devices.max_instances': row(
    'gpu.most',
    k.typeCounts,
    {},
    {
      about:
        'For each type, how many vGPUs of it one card can hold. Of use where virtual functions are divided: each of them says that it has room, also where the card has too little for all.',
      example: { 'nvidia-474': 4 },
    },
  ),
  'gpu_devices.filter_sriov_vfs': row('gpu.withoutVfs', k.toggle, false, {
    about: 'Taken, and without effect: virtual functions are never offered as whole GPUs.',
  }),
  'fpga.fpgaconf': row('fpga.fpgaconf', k.file, FPGACONF, {
    about: 'The program of the OPAE SDK with which intel_fpga_driver programs cards.',
  }),
  'fpga.xrt_folder': row('fpga.xrtFolder', k.folder, XRT_FOLDER, {
    about:
      'Where xilinx_fpga_driver finds the program of XRT with which it programs cards: xbutil, or the newer xrt-smi.',
  }),
  'fpga.alveo_management': row('fpga.withManagement', k.toggle, false, {
    about:
      'Whether guests get the management function of an Alveo card with its user function, as the two accelerator requests of a group with trait:CUSTOM_FPGA_XILINX=required. ' +
      'Whoever has it can rewrite the shell of the card.',
  }),
  'measuring.nvidia_smi': row('measuring.nvidiaSmi', k.word, MEASURING.nvidiaSmi, {
    about: 'The program that tells measurements of NVIDIA GPUs: a name in PATH, or a path.',
  }),
  'measuring.npu_smi': row('measuring.npuSmi', k.word, MEASURING.npuSmi, {
    about: 'The program that tells measurements of Ascend NPUs: a name in PATH, or a path.',
  }),
  'spdk.rpc_socket': row('spdk.socket', k.file, '/var/tmp/spdk.sock', {
    about: 'The JSON-RPC socket of the SPDK target whose subsystems nvmf_spdk_driver shows.',
  }),
  'nic_devices.physical_device_mappings': row('nic.networks', k.mappings, [], {
    about:
      'Physical networks of the network cards that intel_nic_driver offers, by the interface of the physical function: network:interface|interface.',
    example: ['physnet1:ens1f0|ens1f1'],
  }),
  'nic_devices.function_device_mappings': row('nic.functions', k.mappings, [], {
    about: 'Names of functions that such cards have, which become traits: function:interface|interface.',
    example: ['GTPv1:ens1f0'],
  }),
}
