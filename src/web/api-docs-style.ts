/** The style of the API's reference page. */
export const API_DOCS_STYLE = `
:root { color-scheme: light dark; --line: #8884; --weak: #888; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; display: grid; grid-template-columns: 17rem minmax(0, 60rem); }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; border-right: 1px solid var(--line); padding: 1rem; box-sizing: border-box; }
nav a { display: block; color: inherit; text-decoration: none; padding: .1rem 0; font-size: .87rem; }
nav a:hover { text-decoration: underline; }
nav h2 { font-size: .8rem; margin: 1rem 0 .2rem; color: var(--weak); text-transform: uppercase; }
main { padding: 1rem 2rem; }
section { border-top: 1px solid var(--line); padding: .5rem 0; }
h3 { margin: .5rem 0; overflow-wrap: anywhere; }
h3 b { font-size: .8rem; padding: .15rem .4rem; border-radius: .25rem; color: #fff; background: #555; }
h3 .get { background: #2563ab; } h3 .post { background: #2a7a45; } h3 .put, h3 .patch { background: #96690c; } h3 .delete { background: #a13030; }
h4 { margin: .8rem 0 .2rem; }
table { border-collapse: collapse; width: 100%; }
td { border-top: 1px solid var(--line); padding: .25rem .8rem .25rem 0; vertical-align: top; }
td i { color: var(--weak); font-size: .85rem; }
pre { background: #8881; padding: .6rem .8rem; overflow: auto; border-radius: .3rem; font-size: .85rem; }
@media (max-width: 60rem) { body { display: block; } nav { position: static; height: auto; border: 0; } main { padding: 1rem; } }
`;
