import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { columnsOf, DataTable } from '../../components/lists/data-table.tsx';
import { Loading } from '../../components/loading.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { useRefreshMs } from '../../live/live-updates.tsx';
import { useApi } from '../../session/session.ts';
import { plotted, readThroughput, type TypeTotals, totalsOf } from './throughput-numbers.ts';

const BarPlot = lazy(async () => ({ default: (await import('../../components/plot/bar-plot.tsx')).BarPlot }));

const helper = columnsOf<TypeTotals>();
const columns = helper.columns([
  helper.accessor('type', { header: 'Type' }),
  helper.accessor('succeeded', {
    header: 'Succeeded',
    cell: ({ getValue }) => getValue().toLocaleString('en'),
  }),
  helper.accessor('failed', { header: 'Failed', cell: ({ getValue }) => getValue().toLocaleString('en') }),
]);

/**
 * Shows the numbers of successful and failed attempts in each minute of the last hour, as a plot, and by type in a
 * table.
 */
export function Throughput() {
  const api = useApi();
  const { data, error } = useQuery({
    queryKey: ['sync', 'throughput'],
    queryFn: () => readThroughput(api),
    refetchInterval: useRefreshMs(),
  });
  return (
    <section className="stack" aria-labelledby="throughput">
      <h2 id="throughput">Attempts in the last hour</h2>
      {error && !data && <ProblemNotice title="The throughput could not be read." error={error} />}
      {data && (
        <>
          <Suspense fallback={<Loading what="the plot" />}>
            <BarPlot
              label="Attempts per minute in the last hour; failures are on top of successes. The table below has the totals."
              {...plotted(data)}
            />
          </Suspense>
          <DataTable
            label="Attempts in the last hour by type"
            columns={columns}
            rows={totalsOf(data)}
            rowId={({ type }) => type}
            empty="There was no attempt in the last hour."
          />
        </>
      )}
    </section>
  );
}
