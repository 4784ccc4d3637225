/** What a message calls the server in an `enterprise_url`. */
export const serverName = (enterpriseUrl: string): string =>
  enterpriseUrl === '' ? 'the public service' : enterpriseUrl;
