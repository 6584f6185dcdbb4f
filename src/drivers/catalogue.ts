/** What people should know of each driver before they enable it. The page `docs/drivers.md` is printed from it. */
import { CARD_KINDS, type CardDriverName } from './cards/cardKinds.ts'
import type { DriverName } from './index.ts'

export type DriverFacts = {
  readonly hardware: string
  readonly type: string
  readonly resourceClass: string
  readonly traits: string
  readonly handles: string
  readonly programming: string
  /** How far it was tried. Nothing of this project was ever run on the real cards. */
  readonly tried: string
}

const RECORDED = 'recorded hosts, written after the contract'
const kindOf = (driver: CardDriverName) => CARD_KINDS.find((kind) => kind.driver === driver)!.hardware

/** By entry-point name. */
export const DRIVER_FACTS: Readonly<Record<DriverName, DriverFacts>> = {
  nvidia_gpu_driver: {
    hardware:
      'NVIDIA GPUs: whole ones that are not in MIG mode, and vGPUs of the functions in `gpu_devices.device_addresses`',
    type: 'GPU',
    resourceClass: '`PGPU`; `VGPU` where a function is divided',
    traits: '`CUSTOM_NVIDIA_<product>`, `CUSTOM_GPU_NVIDIA_<family>`; of a vGPU `CUSTOM_NVIDIA_<product>_<type>`',
    handles:
      'one PCI; of a divided function one MDEV for each vGPU, or one PCI where the vendor divides by files of its own. **Nova does not attach MDEV**: the guest starts without the vGPU, and without every other accelerator of its server',
    programming:
      'a vGPU is made when it is bound and removed when it is given up; after a restart of the machine it is made again',
    tried: `${RECORDED}; a process in the place of the kernel that makes mediated devices, with the real program and with a real Nova (fake hypervisor)`,
  },
  intel_fpga_driver: {
    hardware: 'Intel FPGA cards served by the OPAE kernel driver or the one of the kernel (DFL)',
    type: 'FPGA',
    resourceClass: '`FPGA`',
    traits:
      '`CUSTOM_FPGA_INTEL`, `CUSTOM_FPGA_INTEL_<family>`, `CUSTOM_FPGA_FUNCTION_ID_INTEL_<id>`, `CUSTOM_FPGA_REGION_INTEL_<id>`',
    handles:
      'one PCI for each virtual function, and for each further function of an OFS board that is bound to vfio-pci; or one for the physical function where there are neither',
    programming:
      'with `fpgaconf` (`fpga.fpgaconf`), only an image whose header names the region; done when the card shows the functions of the image',
    tried: `${RECORDED}; the real host program with a program in the place of \`fpgaconf\``,
  },
  xilinx_fpga_driver: {
    hardware: 'AMD / Xilinx Alveo cards: the user function of a card; the management function stays with the host',
    type: 'FPGA',
    resourceClass: '`FPGA`',
    traits:
      '`CUSTOM_FPGA_PRODUCT_ID_<product>` of the management function, `CUSTOM_FPGA_XILINX_<family>`, `CUSTOM_FPGA_FUNCTION_ID_XILINX_<id>` of the UUID of the loaded image, and of the function that the image store says it has; with `fpga.alveo_management` also `CUSTOM_FPGA_XILINX`',
    handles:
      'one PCI; with `fpga.alveo_management` two, given together to the two accelerator requests of a group with `trait:CUSTOM_FPGA_XILINX=required`',
    programming:
      'the user partition, with `xbutil` or `xrt-smi` of `fpga.xrt_folder`; done when the card shows the UUID of the image. The shell is never written. None of a V80',
    tried: `${RECORDED}; the real host program with a program in the place of \`xbutil\``,
  },
  intel_nic_driver: {
    hardware:
      'network cards of all vendors; only where a mapping of `nic_devices` names them, but for X710, XXV710 and E810',
    type: 'NIC',
    resourceClass: '`CUSTOM_NIC`',
    traits: '`CUSTOM_PF` or `CUSTOM_VF`, and those of the mappings in `nic_devices`',
    handles:
      'one PCI for each virtual function, or one for the physical function where there are none; none of a function that a default route of the host leads through',
    programming: 'none',
    tried: RECORDED,
  },
  intel_qat_driver: {
    hardware: 'Intel QAT devices',
    type: 'QAT',
    resourceClass: '`CUSTOM_QAT`',
    traits:
      '`CUSTOM_QAT_INTEL`, `CUSTOM_QAT_PRODUCT_ID_<product>`, `CUSTOM_QAT_INTEL_<family>`, `CUSTOM_PF` or `CUSTOM_VF`',
    handles: 'one PCI for each virtual function, or one for the physical function where there are none',
    programming: 'none',
    tried: RECORDED,
  },
  inspur_fpga_driver: {
    hardware: kindOf('inspur_fpga_driver'),
    type: 'FPGA',
    resourceClass: '`FPGA`',
    traits: '`CUSTOM_FPGA_INSPUR`, `CUSTOM_FPGA_PRODUCT_ID_<product>`',
    handles: 'one PCI',
    programming: 'none',
    tried: RECORDED,
  },
  inspur_nvme_ssd_driver: {
    hardware: kindOf('inspur_nvme_ssd_driver'),
    type: 'SSD',
    resourceClass: '`CUSTOM_SSD`',
    traits: '`CUSTOM_SSD_INSPUR`, `CUSTOM_SSD_PRODUCT_ID_<product>`',
    handles: 'one PCI',
    programming: 'none',
    tried: RECORDED,
  },
  nvme_ssd_driver: {
    hardware: kindOf('nvme_ssd_driver'),
    type: 'SSD',
    resourceClass: '`CUSTOM_SSD`',
    traits: '`CUSTOM_SSD_<vendor>` where the vendor is known, `CUSTOM_SSD_PRODUCT_ID_<product>`',
    handles: 'one PCI',
    programming: 'none',
    tried: RECORDED,
  },
  huawei_ascend_driver: {
    hardware: kindOf('huawei_ascend_driver'),
    type: 'AICHIP',
    resourceClass: '`CUSTOM_AICHIP`',
    traits:
      '`CUSTOM_AICHIP_HUAWEI`, `CUSTOM_AICHIP_PRODUCT_ID_<product>`, `CUSTOM_AICHIP_HUAWEI_<family>` but for the 310',
    handles: 'one PCI',
    programming: 'none',
    tried: RECORDED,
  },
  id_table_driver: {
    hardware: kindOf('id_table_driver'),
    type: 'as the row says',
    resourceClass: 'as the row says, otherwise the one of the type',
    traits:
      '`CUSTOM_<type>_<vendor>`, `CUSTOM_<type>_PRODUCT_ID_<product>`, `CUSTOM_<type>_<vendor>_<family>`, and those of the row',
    handles:
      'one PCI; none of a network card that a default route of the host leads through, or that has virtual functions',
    programming: 'none',
    tried: RECORDED,
  },
  pci_driver: {
    hardware: 'any PCI function that `pci.passthrough_whitelist` takes',
    type: 'GPU, unless the entry says another one',
    resourceClass: '`CUSTOM_PCI`, unless the entry says another one',
    traits:
      '`CUSTOM_PCI_<vendor>`, `CUSTOM_PCI_PRODUCT_ID_<product>`, `CUSTOM_PCI_<vendor id>_<product>`, those of the entry, and `CUSTOM_<physical network>` where one is named',
    handles: 'one PCI',
    programming: 'none',
    tried: `${RECORDED}; the PCI bus of virtual machines`,
  },
  nvmf_spdk_driver: {
    hardware: 'the NVMe over Fabrics subsystems of the SPDK target at `spdk.rpc_socket`',
    type: 'SSD',
    resourceClass: '`CUSTOM_SSD`, all of it reserved: they are shown, not offered',
    traits: '`CUSTOM_SSD_SPDK`, `CUSTOM_SSD_NVMF_<transport>`',
    handles: 'none: Nova has no way to attach one',
    programming: 'none',
    tried: 'a scripted target on a real socket',
  },
  fake_driver: {
    hardware: 'no hardware: devices with the values of the fake driver that clients know',
    type: 'FPGA',
    resourceClass: '`FPGA`',
    traits: '`CUSTOM_FAKE_DEVICE`',
    handles: 'TEST_PCI, which Nova ignores',
    programming: 'simulated: the image is recorded, no card is programmed',
    tried: 'a real Nova, Placement, Keystone and Glance',
  },
  simulated_driver: {
    hardware: 'no hardware: the hosts of `--demo`, of tests and of the simulation',
    type: 'all',
    resourceClass: 'as the real cards',
    traits: 'as the real cards',
    handles: 'PCI',
    programming: 'simulated: the image is recorded, no card is programmed',
    tried: 'a real Nova, Placement, Keystone and Glance; chaos and simulation',
  },
}
