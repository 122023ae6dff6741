// Before anything is drawn: the colours that were chosen here or on the documentation's pages.
const chosen = (() => {
  try {
    return localStorage.getItem("theme") || "auto";
  } catch {
    return "auto"; // where nothing may be stored
  }
})();
document.documentElement.dataset.theme = chosen;
