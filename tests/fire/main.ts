// Disturbs the distributed system under load, and checks the history of what it did against what its witnesses saw.
//
//   npm run chaos -- --help
import { parseCommandLine, usage } from './command-line.ts';
import { printReport } from './report.ts';
import { runUnderFire } from './run.ts';

const log = (line: string): void => console.log(line);

const commandLine = parseCommandLine(process.argv.slice(2));
if (commandLine.help) log(usage);
else {
  const report = await runUnderFire({ ...commandLine.options, log });
  printReport(report, log);
  process.exitCode = report.foundAfterMs === null ? 0 : 1;
}
