/**
 * The additional authenticated data of the sealed private key of a code-host application. In the bound form, it opens only for
 * the server that it was stored for, so that no other one receives its signature.
 */
export const codehostAppAad = ({ id, enterpriseUrl }: { id: string; enterpriseUrl: string }) => ({
  plain: `sync.codehost_apps:${id}`,
  bound: `sync.codehost_apps:${id}:${enterpriseUrl}`,
});
