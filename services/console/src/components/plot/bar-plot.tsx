import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import './plot.css';

/** A series of bars in one colour, drawn on top of the series before it. */
export interface Series {
  label: string;
  tone: 'good' | 'bad';
  /** A number for each time. */
  values: readonly number[];
}

interface BarPlotProps {
  /** What the plot shows, for those who cannot see it. Show the numbers in a table, too. */
  label: string;
  /** In seconds since 1970. */
  times: readonly number[];
  series: readonly Series[];
}

const heightPixels = 160;

/** Stacked bars over time. Load it with `lazy`: the library is not part of the first load. */
export function BarPlot({ label, times, series }: BarPlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const names = series.map((one) => `${one.label} ${one.tone}`).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: new numbers are drawn by the effect below, without a new plot.
  useEffect(() => {
    const target = place.current as HTMLDivElement;
    const created = new uPlot(options(target, series), stacked(times, series), target);
    plot.current = created;
    const resized = new ResizeObserver(() =>
      created.setSize({ width: target.clientWidth, height: heightPixels }),
    );
    resized.observe(target);
    return () => {
      resized.disconnect();
      created.destroy();
    };
  }, [names]);
  useEffect(() => plot.current?.setData(stacked(times, series)), [times, series]);
  return <div ref={place} className="plot" role="img" aria-label={label} />;
}

/** Draws the sums first and the first series last, so that each bar shows the part that it adds. */
function stacked(times: readonly number[], series: readonly Series[]): uPlot.AlignedData {
  const sums = series.map((_, last) =>
    times.map((_, at) => series.slice(0, last + 1).reduce((sum, { values }) => sum + (values[at] ?? 0), 0)),
  );
  return [[...times], ...sums.reverse()];
}

function options(target: HTMLElement, series: readonly Series[]): uPlot.Options {
  const bars = uPlot.paths.bars?.({ size: [0.8, 24] });
  const axis = {
    stroke: () => colour(target, '--text-soft'),
    grid: { stroke: () => colour(target, '--line') },
  };
  return {
    width: target.clientWidth,
    height: heightPixels,
    cursor: { show: false },
    legend: { show: false },
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(max ?? 0, 5)] } },
    axes: [
      { ...axis, values: (_plot, times) => times.map(clock) },
      { ...axis, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5] },
    ],
    series: [
      {},
      ...series.toReversed().map(({ label, tone }) => ({
        label,
        fill: () => colour(target, `--${tone}-text`),
        width: 0,
        points: { show: false },
        ...(bars && { paths: bars }),
      })),
    ],
  };
}

const clock = (seconds: number): string =>
  new Date(seconds * 1000).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });

/** The canvas does not know CSS variables, and these depend on the theme. */
function colour(target: HTMLElement, variable: string): string {
  target.style.color = `var(${variable})`;
  return getComputedStyle(target).color;
}
