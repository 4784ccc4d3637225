import { Link } from 'wouter';
import { NameList } from '../../../components/lists/name-list.tsx';
import { Loading } from '../../../components/loading.tsx';
import { ProblemNotice } from '../../../components/problem-notice.tsx';
import { useMounts } from '../queries.ts';
import { folderHref } from '../secret-links.ts';
import { NewMount } from './new-mount.tsx';

/** The mounts, and a form for another one. */
export function Mounts() {
  const { data, error, refetch } = useMounts();
  if (error) return <ProblemNotice title="The mounts could not be read." error={error} onRetry={refetch} />;
  if (data === undefined) return <Loading what="the mounts" />;
  return (
    <>
      <h2>Mounts</h2>
      <NameList
        label="Mounts"
        names={data.map(({ path }) => path)}
        row={(path) => (
          <>
            <Link href={folderHref(path)}>{path}</Link>{' '}
            <span className="soft">{data.find((mount) => mount.path === path)?.description}</span>
          </>
        )}
        empty="There is no mount in which this token has a right."
      />
      <NewMount />
    </>
  );
}
