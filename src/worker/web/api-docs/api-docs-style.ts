/** The style sheet of the API's reference page. */
export const API_DOCS_STYLE = `
:root { color-scheme: light dark; --line: #8884; --weak: #777; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; display: grid; grid-template-columns: 17rem minmax(0, 60rem); }
.beside { position: sticky; top: 0; height: 100vh; overflow: auto; border-right: 1px solid var(--line); padding: 1rem; box-sizing: border-box; }
nav a { display: block; color: inherit; text-decoration: none; padding: .1rem 0; font-size: .87rem; }
nav a:hover { text-decoration: underline; }
nav h2 { font-size: .8rem; margin: 1rem 0 .2rem; color: var(--weak); text-transform: uppercase; }
main { padding: 1rem 2rem; overflow-wrap: anywhere; }
section { border-top: 1px solid var(--line); padding: .5rem 0; }
h3 { margin: .5rem 0; }
h3 b { font-size: .8rem; padding: .15rem .4rem; border-radius: .25rem; color: #fff; background: #555; }
h3 .get { background: #2563ab; } h3 .post { background: #2a7a45; } h3 .put, h3 .patch { background: #96690c; } h3 .delete { background: #a13030; }
h4 { margin: .8rem 0 .2rem; }
table { border-collapse: collapse; width: 100%; }
td { border-top: 1px solid var(--line); padding: .25rem .8rem .25rem 0; vertical-align: top; }
td:first-child { overflow-wrap: normal; }
td i { color: var(--weak); font-size: .85rem; }
code { font-size: .9em; }
:not(h3) > code { background: #8881; border-radius: .2rem; padding: 0 .2rem; }
pre { background: #8881; padding: .6rem .8rem; border-radius: .3rem; font-size: .85rem; white-space: pre-wrap; }
.above, .back { display: none; }
@media (max-width: 60rem) {
  body { display: block; }
  main { padding: 1rem; }
  .beside { display: none; }
  .above { display: block; border: 1px solid var(--line); border-radius: .3rem; }
  .above summary { padding: .7rem 1rem; cursor: pointer; }
  .above nav { padding: 0 1rem 1rem; }
  .above a { padding: .4rem 0; font-size: 1rem; }
  tr { display: block; border-top: 1px solid var(--line); padding: .4rem 0; }
  td { display: inline; border: 0; padding: 0 .4rem 0 0; }
  td:last-child { display: block; }
  .back { display: grid; place-items: center; position: fixed; right: 1rem; bottom: 1rem; width: 2.75rem; height: 2.75rem;
    border-radius: 50%; background: #2563ab; color: #fff; text-decoration: none; font-size: 1.2rem; }
}
`;
