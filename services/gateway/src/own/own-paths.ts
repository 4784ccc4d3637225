/** The paths that the gateway serves itself, without the prefix `/v1/`. */
export const healthPath = 'sys/health';
export const descriptionPath = 'sys/internal/specs/openapi';
export const auditPath = 'sys/audit';
/** Followed by the name of an audit device. */
export const auditHashPath = 'sys/audit-hash';
/** Begins the rotation of the seal keys. */
export const rotatePath = 'sys/rotate';
export const keyStatusPath = 'sys/key-status';
export const sealStatusPath = 'sys/seal-status';
export const leaderPath = 'sys/leader';
export const initPath = 'sys/init';
