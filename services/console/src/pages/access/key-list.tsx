import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { NameList } from '../../components/lists/name-list.tsx';
import { PageButtons, usePages } from '../../components/lists/pages.tsx';
import { Loading } from '../../components/loading.tsx';
import { NotAllowed, ProblemNotice } from '../../components/problem-notice.tsx';
import { usePermissions } from '../../session/permissions.ts';
import './access.css';

export const pageSize = 100;

interface KeyListProps {
  /** What it lists, in the plural, such as “policies”. */
  what: string;
  /** Below `/v1/`: what the token must be allowed to list. */
  path: string;
  /** Returns a page of at most `pageSize` names; empty if there are none. */
  read(after: string): Promise<string[]>;
  row(name: string): ReactNode;
}

/** A paged list of names, if the token may list them. */
export function KeyList({ what, path, read, row }: KeyListProps) {
  const { may, known } = usePermissions([path]);
  const pages = usePages<string>();
  const { data, error, refetch } = useQuery({
    queryKey: ['access', path, 'names', pages.after],
    queryFn: () => read(pages.after ?? ''),
    enabled: may('list', path),
  });
  if (known && !may('list', path))
    return <NotAllowed what={`This token may not list the ${what}.`} capability="list" path={path} />;
  if (error)
    return <ProblemNotice title={`The ${what} could not be read.`} error={error} onRetry={refetch} />;
  if (data === undefined) return <Loading what={`the ${what}`} />;
  return (
    <>
      <NameList label={what} names={data} row={row} empty={`There are no ${what}.`} />
      <PageButtons pages={pages} next={data.length === pageSize ? data.at(-1) : undefined} />
    </>
  );
}
