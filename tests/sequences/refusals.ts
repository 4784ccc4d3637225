/** The creations that a store without room refuses, where one answer says so. */
const full: Readonly<Record<string, object>> = {
  'cloudA-sm': { operation: 'CreateSecret', code: 'LimitExceededException', status: 400 },
  'webhost-project': { operation: 'createProjectEnv', code: 'env_too_many_keys', status: 400 },
};

/** The fault of a store that denies permission, or has no room. */
export const refusal = (type: string, reason: 'forbidden' | 'full'): object => {
  const denied = { code: 'AccessDenied', status: 403 };
  return { effect: 'error', ...((reason === 'full' && full[type]) || denied) };
};
