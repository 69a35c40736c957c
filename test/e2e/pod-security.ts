/** The parts of a pod's spec that the profile is about. */
export interface PodSpec {
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly securityContext?: SecurityContext;
  readonly volumes?: readonly Readonly<Record<string, unknown>>[];
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
}

export interface SecurityContext {
  readonly privileged?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly seccompProfile?: { readonly type: string };
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  readonly procMount?: string;
  readonly sysctls?: readonly unknown[];
  readonly seLinuxOptions?: unknown;
  readonly windowsOptions?: unknown;
  readonly appArmorProfile?: unknown;
}

export interface Container {
  readonly securityContext?: SecurityContext;
  readonly ports?: readonly { readonly hostPort?: number }[];
}

const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

/**
 * What the profile "restricted" of Kubernetes' Pod Security Standards would refuse. Options that it allows with some values
 * (sysctls, SELinux, AppArmor) are refused with any.
 */
export function restrictedViolations(pod: PodSpec): string[] {
  const containers = [...(pod.initContainers ?? []), ...pod.containers];
  const contexts = [pod, ...containers].map(({ securityContext = {} }) => securityContext);
  const ofPod = pod.securityContext;
  const rules: [string, boolean][] = [
    ['host namespaces', [pod.hostNetwork, pod.hostPID, pod.hostIPC].includes(true)],
    ['volume types', (pod.volumes ?? []).some((volume) => !VOLUMES.some((type) => Object.hasOwn(volume, type)))],
    ['host ports', containers.some(({ ports = [] }) => ports.some(({ hostPort = 0 }) => hostPort !== 0))],
    ['privileged', contexts.some(({ privileged }) => privileged === true)],
    ['running as root', contexts.some(({ runAsUser }) => runAsUser === 0)],
    [
      'special options',
      contexts.some(
        (context) =>
          (context.procMount ?? 'Default') !== 'Default' ||
          (context.sysctls ?? []).length > 0 ||
          [context.seLinuxOptions, context.windowsOptions, context.appArmorProfile].some(
            (value) => value !== undefined,
          ),
      ),
    ],
    ['privilege escalation', containers.some((one) => one.securityContext?.allowPrivilegeEscalation !== false)],
    [
      'non-root is not required',
      containers.some((one) => (one.securityContext?.runAsNonRoot ?? ofPod?.runAsNonRoot) !== true),
    ],
    [
      'seccomp',
      containers.some((one) => {
        const { type } = one.securityContext?.seccompProfile ?? ofPod?.seccompProfile ?? {};
        return type !== 'RuntimeDefault' && type !== 'Localhost';
      }),
    ],
    ['capabilities are kept', containers.some((one) => !one.securityContext?.capabilities?.drop?.includes('ALL'))],
    [
      'capabilities are added',
      containers.some((one) => one.securityContext?.capabilities?.add?.some((name) => name !== 'NET_BIND_SERVICE')),
    ],
  ];
  return rules.filter(([, isViolated]) => isViolated).map(([rule]) => rule);
}
