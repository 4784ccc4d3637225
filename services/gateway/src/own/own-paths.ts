/** The paths that the gateway serves itself, without the prefix `/v1/`. */
export const healthPath = 'sys/health';
export const descriptionPath = 'sys/internal/specs/openapi';
export const sealStatusPath = 'sys/seal-status';
export const leaderPath = 'sys/leader';
export const initPath = 'sys/init';
