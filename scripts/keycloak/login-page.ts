/** The parameters that Keycloak has sent to the redirect URI, or the text of the page that it shows instead. */
type Outcome = { returned: Record<string, string> } | { page: string };

/** Opens the URL of a sign-in, fills in the page of Keycloak as a browser does, and follows it to the redirect URI. */
export async function signInAt(
  authUrl: string,
  redirectUri: string,
  credentials: { username: string; password: string },
): Promise<Outcome> {
  const cookies = new Map<string, string>();
  const open = async (url: string, init: RequestInit = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
  const page = await (await open(authUrl)).text();
  const action = /<form[^>]*\saction="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&');
  if (action === undefined) return { page };
  const answer = await open(action, { method: 'POST', body: new URLSearchParams(credentials) });
  const location = answer.headers.get('location');
  if (location?.startsWith(redirectUri) !== true) return { page: await answer.text() };
  return { returned: Object.fromEntries(new URL(location).searchParams) };
}
