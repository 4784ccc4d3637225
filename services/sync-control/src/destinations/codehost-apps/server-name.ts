/** Returns the wording for the server of an `enterprise_url` in messages. */
export const serverName = (enterpriseUrl: string): string =>
  enterpriseUrl === '' ? 'the public service' : enterpriseUrl;
