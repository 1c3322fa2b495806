import { cruiseLayers, problemsOf } from "./cruise-layers.ts";

const report = await cruiseLayers(process.cwd());
const problems = problemsOf(report);
for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error(`\n${problems.length} problem(s). The rules and their reasons: .dependency-cruiser.mjs`);
  process.exitCode = 1;
} else {
  console.log(`${report.modules} modules keep the layers`);
}
