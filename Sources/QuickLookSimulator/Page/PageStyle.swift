// SPDX-License-Identifier: Apache-2.0

extension Page {
    /// The colours and measures of the desktop's own programs; one accent.
    static let styleText = """
        :root {
          color-scheme: light dark;
          --page: #fafafb; --side: #f0f0f2; --view: #fff; --text: #26292b; --faint: #62676b; --line: #dcdce0;
          --hover: rgb(0 0 6 / 6%); --field: rgb(0 0 6 / 7%); --accent: #1c71d8; --on-accent: #fff; --pick: #d9e7f8;
          --found: #f9e2a0; --on-found: #2e2a14; --warn: #fdf3d7; --on-warn: #5c4300;
          --shadow: 0 1px 3px rgb(0 0 6 / 8%), 0 8px 28px rgb(0 0 6 / 14%);
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #222226; --side: #2a2a2e; --view: #1d1d20; --text: #f2f2f3; --faint: #a9acb2; --line: #3c3c41;
            --hover: rgb(255 255 255 / 7%); --field: rgb(255 255 255 / 10%); --accent: #78aeed; --on-accent: #10263f;
            --pick: #2c4361; --found: #6b4e00; --on-found: #ffe9a8; --warn: #3a311c; --on-warn: #f3d694;
            --shadow: 0 1px 3px rgb(0 0 0 / 40%), 0 8px 28px rgb(0 0 0 / 50%);
          }
        }
        * { box-sizing: border-box; }
        [hidden], .hidden:empty { display: none !important; }
        .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); margin: 0; }
        html, body { height: 100%; margin: 0; }
        body {
          display: grid; grid-template-rows: auto 1fr; color: var(--text); background: var(--page);
          font: 14.5px/1.45 "Adwaita Sans", Cantarell, -apple-system, "Segoe UI", Inter, system-ui, sans-serif;
        }
        h1, h2, p, ul { margin: 0; padding: 0; font-size: inherit; }
        button, input { font: inherit; color: inherit; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        svg { display: block; width: 1em; height: 1em; fill: none; stroke: currentColor; stroke-width: 1.5;
          stroke-linecap: round; stroke-linejoin: round; }
        mark { background: var(--found); color: var(--on-found); border-radius: 3px; padding: 0 .08em; margin: 0 -.08em; }

        .bar { display: flex; align-items: center; justify-content: center; gap: 8px; padding: 8px 12px;
          background: var(--side); border-bottom: 1px solid var(--line); }
        .field { display: flex; align-items: center; gap: 8px; flex: 1; max-width: 34rem; height: 36px; padding: 0 10px;
          border-radius: 9px; background: var(--field); }
        .field:focus-within { outline: 2px solid var(--accent); outline-offset: -1px; background: var(--view); }
        .field > span { color: var(--faint); font-size: 17px; }
        .field input { flex: 1; min-width: 0; border: 0; padding: 0; background: none; outline: none; font-size: 15px; }
        .field input::placeholder { color: var(--faint); opacity: 1; }
        .field input::-webkit-search-cancel-button { filter: grayscale(1); }
        kbd { font: inherit; font-size: 12px; line-height: 18px; min-width: 20px; text-align: center; color: var(--faint);
          border: 1px solid var(--line); border-radius: 5px; background: var(--view); }
        .field:focus-within kbd { display: none; }
        .flat { display: none; width: 36px; height: 36px; border: 0; border-radius: 9px; background: none; font-size: 18px;
          place-items: center; }
        .flat:hover { background: var(--hover); }

        main { display: grid; grid-template-columns: minmax(300px, 27rem) 1fr; min-height: 0; }
        .list { position: relative; overflow-y: auto; background: var(--side); border-right: 1px solid var(--line);
          overscroll-behavior: contain; scrollbar-width: thin; }
        #results { list-style: none; padding: 6px; }
        #results li { display: grid; grid-template-columns: 40px 1fr auto; gap: 1px 12px; padding: 9px 12px 10px 10px;
          border-radius: 10px; cursor: default; user-select: none; scroll-margin: 6px; }
        #results li + li { margin-top: 2px; }
        #results li:hover { background: var(--hover); }
        #results li[aria-selected=true] { background: var(--pick); }
        #results li.dragged { opacity: .5; }
        .icon { grid-row: 1 / span 3; align-self: start; display: grid; place-items: center; width: 40px; height: 40px;
          margin-top: 2px; border-radius: 9px; font-size: 20px; color: var(--faint); background: var(--hover);
          overflow: hidden; }
        .icon img { width: 100%; height: 100%; object-fit: cover; background: var(--view); }
        .icon img.loading { position: absolute; width: 1px; height: 1px; opacity: 0; }
        .name { font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        time { color: var(--faint); font-size: 12.5px; line-height: 21px; white-space: nowrap; }
        .words { grid-column: 2 / -1; color: var(--faint); font-size: 13px; line-height: 1.4; overflow: hidden;
          display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow-wrap: anywhere; }
        .kind { grid-column: 2 / -1; color: var(--faint); font-size: 12.5px; overflow: hidden; text-overflow: ellipsis;
          white-space: nowrap; }
        .kind::first-letter, #facts::first-letter { text-transform: uppercase; }
        #more { display: block; margin: 2px auto 14px; padding: 6px 16px; border: 0; border-radius: 9px;
          background: var(--field); font-weight: 600; }

        .preview { position: relative; display: flex; flex-direction: column; min-width: 0; min-height: 0; outline: none;
          background: var(--page); }
        #about { display: flex; align-items: center; gap: 12px; min-height: 60px; padding: 9px 12px 9px 18px;
          border-bottom: 1px solid var(--line); }
        .title { flex: 1; min-width: 0; }
        #title { font-weight: 700; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        #facts { color: var(--faint); font-size: 12.5px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        #offers { display: flex; position: relative; }
        #offers a, #offers summary { display: flex; align-items: center; gap: 7px; height: 34px; padding: 0 13px;
          background: var(--field); color: inherit; text-decoration: none; font-weight: 600; cursor: default;
          white-space: nowrap; }
        #offers > a { border-radius: 9px; }
        #offers > a:not(:only-child) { border-radius: 9px 0 0 9px; }
        #offers summary { list-style: none; padding: 0 9px; margin-left: 1px; border-radius: 0 9px 9px 0; }
        #offers summary::-webkit-details-marker { display: none; }
        #offers > a:hover, #offers summary:hover { background: color-mix(in srgb, var(--field), var(--hover)); }
        #offers menu { position: absolute; z-index: 2; right: 0; top: 40px; min-width: 250px; max-height: 60vh; margin: 0;
          padding: 6px; overflow-y: auto; border-radius: 12px; background: var(--view); box-shadow: var(--shadow);
          border: 1px solid var(--line); }
        #offers menu a { height: auto; padding: 7px 10px; border-radius: 7px; background: none; font-weight: 400;
          justify-content: space-between; gap: 24px; }
        #offers menu a:hover, #offers menu a:focus-visible { background: var(--hover); }
        #offers small { color: var(--faint); }
        #note { padding: 8px 18px; background: var(--warn); color: var(--on-warn); font-size: 13px;
          border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
        #note.plain summary { list-style: none; }
        #note.plain summary::-webkit-details-marker { display: none; }
        #note ul { margin: 4px 0 2px 18px; max-height: 8rem; overflow: auto; }
        #stage { flex: 1; min-height: 0; display: grid; background: var(--view); }
        #stage:empty, #stage.stale { background: none; }
        #stage.stale > * { opacity: .45; transition: opacity .15s .25s; }
        #stage iframe { width: 100%; height: 100%; border: 0; }
        #stage figure { margin: 0; padding: 20px; min-height: 0; display: grid; place-items: center; }
        .document { display: grid; place-items: center; gap: 6px; padding: 24px; color: inherit; text-decoration: none; }
        .document svg { width: 72px; height: 72px; stroke-width: .7; }
        #stage img { max-width: 100%; max-height: 100%; min-height: 0; border-radius: 6px; object-fit: contain; }

        .empty { position: absolute; inset: 0; display: flex; flex-direction: column; align-items: center;
          justify-content: center; gap: 8px; padding: 24px; text-align: center; color: var(--faint); pointer-events: none; }
        .empty span { font-size: 56px; opacity: .55; margin-bottom: 8px; }
        .empty svg { stroke-width: 1; }
        .empty h2 { font-size: 19px; font-weight: 700; color: var(--text); }
        .empty p { max-width: 24rem; text-wrap: balance; overflow-wrap: anywhere; }

        @media (max-width: 760px) {
          main { grid-template-columns: 1fr; }
          .list { border-right: 0; }
          .preview { display: none; }
          .shows-preview .list { display: none; }
          .shows-preview .preview { display: flex; }
          .shows-preview .flat { display: grid; }
          .shows-preview .field { visibility: hidden; }
          #results li { padding-block: 11px 12px; }
          kbd { display: none; }
        }
        @media (prefers-reduced-motion: reduce) { * { transition: none !important; } }
        @media (forced-colors: active) { #results li[aria-selected=true] { outline: 2px solid Highlight; } }

        """
}
