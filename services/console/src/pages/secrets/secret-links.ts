import type { SecretRef } from './queries.ts';

/** The address of a folder; `folder` is empty or ends with a slash. */
export const folderHref = (mount: string, folder = ''): string =>
  `/secrets?${new URLSearchParams({ mount, ...(folder && { folder }) })}`;

export const secretHref = ({ mount, name }: SecretRef): string =>
  `/secrets/secret?${new URLSearchParams({ mount, name })}`;

/** The folders above a name and its mount, outermost first, with their addresses. */
export function crumbsOf(mount: string, name: string): { label: string; href: string }[] {
  const parts = name.split('/').slice(0, -1);
  const folders = parts.map((label, at) => ({
    label,
    href: folderHref(mount, `${parts.slice(0, at + 1).join('/')}/`),
  }));
  return [{ label: mount, href: folderHref(mount) }, ...folders];
}
